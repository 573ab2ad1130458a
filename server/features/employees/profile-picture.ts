import { invalid } from '../../kernel/faults.ts';
import { createTurnstile } from '../../kernel/turnstile.ts';

/** Loaded with the first picture: most processes see few, and all would hold its libraries in memory. */
const loadSharp = async () => {
  const { default: sharp } = await import('sharp');
  // Pictures come from anybody, so only these decoders ever see them; above all not the one for SVG.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: [
      'VipsForeignLoadPngBuffer',
      'VipsForeignLoadJpegBuffer',
      'VipsForeignLoadWebpBuffer',
      'VipsForeignLoadNsgifBuffer',
    ],
  });
  // One thread a picture, and none kept in memory afterwards.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
};
let loaded: ReturnType<typeof loadSharp> | undefined;

const pixelsMax = 50_000_000;
const sidePixelsMax = 512;
const secondsMax = 10;

/** Decoding shares libuv's few threads with file and name look-ups, and each picture may take 250 MB. */
const turn = createTurnstile(1, 16);

/** A picture as it is kept and served. */
export type Picture = { content: Buffer; contentType: 'image/webp' };

/** Makes a picture of what a caller sent: base64, with or without a `data:` prefix, whose media type proves nothing. */
export async function readPicture(base64: string): Promise<Picture> {
  const bytes = decode(base64);
  return turn(async () => {
    const sharp = await (loaded ??= loadSharp());
    const input = { limitInputPixels: pixelsMax, failOn: 'error', animated: false } as const;
    const { width, height } = await sharp(bytes, input).metadata().catch(refuse);
    if (width * height > pixelsMax)
      throw invalid(['profilePicture'], `must have at most ${pixelsMax / 1_000_000} megapixels`, 'too_big');
    const content = await sharp(bytes, input)
      .autoOrient()
      .resize({ width: sidePixelsMax, height: sidePixelsMax, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 82 })
      .timeout({ seconds: secondsMax })
      .toBuffer()
      .catch(refuse);
    return { content, contentType: 'image/webp' };
  });
}

function decode(base64: string): Buffer {
  const comma = base64.startsWith('data:') ? base64.indexOf(',') : -1;
  const digits = base64.slice(comma + 1).replaceAll(/\s+/g, '');
  // Buffer.from would skip over anything else and decode the rest.
  if (digits === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(digits)) return refuse();
  return Buffer.from(digits, 'base64');
}

function refuse(): never {
  throw invalid(['profilePicture'], 'must be a PNG, JPEG, WebP or GIF image in base64', 'invalid_picture');
}
