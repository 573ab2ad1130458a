import type { Metadata } from 'sharp';
import { invalid } from '../../errors/errors.ts';
import { createFairQueue } from '../../platform/fair-queue.ts';

/** Loaded with the first picture: most processes see few, and the libraries take memory. */
const loadSharp = async () => {
  const { default: sharp } = await import('sharp');
  // Pictures are untrusted, so only these decoders read them; above all not the one for SVG.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: [
      'VipsForeignLoadPngBuffer',
      'VipsForeignLoadJpegBuffer',
      'VipsForeignLoadWebpBuffer',
      'VipsForeignLoadNsgifBuffer',
    ],
  });
  // One thread per picture, and no cache.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
};
let loaded: ReturnType<typeof loadSharp> | undefined;

/**
 * One picture takes up to 200 MB while it is decoded: 50 megapixels of four channels, or half of that with 16 bits
 * each.
 */
const pixelsMax = 50_000_000;
const decodedBytesMax = 4 * pixelsMax;
/** Encoders and decoders work by rows: millions of short rows take seconds. Panoramas of phones have this length. */
const sideMax = 16_384;
const servedSideMax = 512;
const secondsMax = 10;

/** Decoding shares libuv's few threads with file and name look-ups. Companies take turns. */
const inTurn = createFairQueue({ running: 1, waiting: 16, waitingPerKey: 8 });

/** A picture as it is stored and served. */
export type Picture = { content: Buffer; contentType: 'image/webp' };

/** Converts a caller's picture: base64, with or without a `data:` prefix, whose media type is ignored. */
export function readPicture(base64: string, companyId: number): Promise<Picture> {
  return inTurn([String(companyId)], async () => {
    const bytes = decode(base64);
    const sharp = await (loaded ??= loadSharp());
    const input = { limitInputPixels: pixelsMax, failOn: 'error', animated: false } as const;
    checkSize(
      await sharp(bytes, { ...input, limitInputPixels: false })
        .metadata()
        .catch(refuse),
    );
    const content = await sharp(bytes, input)
      .autoOrient()
      .resize({ width: servedSideMax, height: servedSideMax, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 82 })
      .timeout({ seconds: secondsMax })
      .toBuffer()
      .catch(refuse);
    return { content, contentType: 'image/webp' };
  });
}

/** Checks the header of a picture before anything is decoded. */
function checkSize({ width, height, channels, depth }: Metadata): void {
  const sample = depth === 'uchar' ? 1 : 2;
  const tooBig = (what: string) => invalid(['profilePicture'], `must have at most ${what}`, 'too_big');
  if (Math.max(width, height) > sideMax) throw tooBig(`${sideMax.toLocaleString('en')} pixels on each side`);
  if (width * height > pixelsMax) throw tooBig(`${pixelsMax / 1_000_000} megapixels`);
  if (width * height * channels * sample > decodedBytesMax)
    throw tooBig(`${decodedBytesMax / channels / sample / 1_000_000} megapixels with 16 bits a channel`);
}

function decode(base64: string): Buffer {
  const comma = base64.startsWith('data:') ? base64.indexOf(',') : -1;
  const digits = base64.slice(comma + 1).replaceAll(/\s+/g, '');
  // Buffer.from would skip other characters and decode the rest.
  if (digits === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(digits)) return refuse();
  const bytes = Buffer.from(digits, 'base64');
  // One base64 digit alone encodes no byte.
  return bytes.length === 0 ? refuse() : bytes;
}

function refuse(): never {
  throw invalid(['profilePicture'], 'must be a PNG, JPEG, WebP or GIF image in base64', 'invalid_format');
}
