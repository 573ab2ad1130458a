import { crc32 } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import { errorOf, type Actor, type Answer } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const admin = await service.registerCompany();
const foreigner = await service.registerCompany();
const member = await service.addEmployee(admin);
const picturePath = (actor: Actor) => `/employee/update-picture/${actor.employeeId}/`;
const invalidPicture = { status: 400, code: 'VALIDATION_FAILED', issues: ['profilePicture'] };

function paint(width: number, height: number): Sharp {
  return sharp({ create: { width, height, channels: 3, background: '#1d3fae' } });
}
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
const text = (content: string) => Buffer.from(content).toString('base64');
const png = () => paint(30, 30).png().toBuffer();
const base64 = async (picture: Sharp): Promise<string> => (await picture.toBuffer()).toString('base64');

/** The path of a picture's public address. */
function addressOf(answer: Answer): string {
  expect(answer.status).toBe(200);
  expect(answer.body.profilePicture).toMatch(/^https:\/\/api\.example\.test\/pictures\//);
  return new URL(answer.body.profilePicture).pathname;
}
const fetchPicture = (path: string, method = 'GET') => fetch(`${service.url}${path}`, { method });

async function countPictures(): Promise<number> {
  const rows = await service.database.db
    .selectFrom('pictures')
    .where('company_id', '=', admin.companyId)
    .select('picture_id')
    .execute();
  return rows.length;
}

describe('a profile picture', () => {
  test.each(['png', 'jpeg', 'webp', 'gif'] as const)(
    'in %s is served as WebP to anybody who knows it',
    async (kind) => {
      const profilePicture = await base64(paint(20, 10).toFormat(kind));
      const answer = await fetchPicture(addressOf(await member.patch(picturePath(member), { profilePicture })));
      expect(answer.status).toBe(200);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'image/webp',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
      });
      const { format, width, height } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
      expect({ format, width, height }).toEqual({ format: 'webp', width: 20, height: 10 });
    },
  );

  test('is made small and upright, and loses its metadata', async () => {
    const profilePicture = await base64(
      paint(2000, 1000)
        .withMetadata({ orientation: 6 })
        .withExif({ IFD0: { Copyright: 'where I live' } })
        .jpeg(),
    );
    const path = addressOf(await member.patch(picturePath(member), { profilePicture }));
    const content = Buffer.from(await (await fetchPicture(path)).arrayBuffer());
    const { width, height, exif, icc, orientation } = await sharp(content).metadata();
    expect({ width, height, exif, icc, orientation }).toEqual({ width: 256, height: 512 });
    expect(content.includes('where I live')).toBe(false);
  });

  test('is taken with a data: prefix, whatever media type that claims', async () => {
    const profilePicture = `data:image/svg+xml;base64,${await base64(paint(4, 4).png())}`;
    const path = addressOf(await member.patch(picturePath(member), { profilePicture }));
    expect((await fetchPicture(path)).status).toBe(200);
  });

  test('replaces the one before, which is gone, and null takes it away', async () => {
    const profilePicture = await base64(paint(4, 4).png());
    const first = addressOf(await admin.patch(picturePath(member), { profilePicture }));
    const second = addressOf(await member.patch(picturePath(member), { profilePicture }));
    expect(second).not.toBe(first);
    expect((await fetchPicture(first)).status).toBe(404);
    expect((await fetchPicture(second)).status).toBe(200);
    expect(await countPictures()).toBe(1);

    const removed = await member.patch(picturePath(member), { profilePicture: null });
    expect(removed.body.profilePicture).toBeNull();
    expect((await fetchPicture(second)).status).toBe(404);
    expect(await countPictures()).toBe(0);
  });

  test('leaves one row when many are set at once', async () => {
    const profilePicture = await base64(paint(4, 4).png());
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => member.patch(picturePath(member), { profilePicture })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await countPictures()).toBe(1);
  });
});

describe('what is no picture', () => {
  test.each<[string, () => string | Promise<string>]>([
    ['an SVG', () => text(svg)],
    ['one digit, which stands for no byte', () => '0'],
    ['an SVG that claims to be a PNG', () => `data:image/png;base64,${text(svg)}`],
    ['a TIFF', () => base64(paint(4, 4).tiff())],
    ['an AVIF', () => base64(paint(16, 16).avif())],
    ['a PDF', () => text('%PDF-1.4\n1 0 obj<<>>endobj')],
    ['plain text', () => text('hello')],
    ['no base64', () => 'hello, world!'],
    ['a percent-encoded data URL', () => `data:image/svg+xml,${encodeURIComponent(svg)}`],
    ['nothing', () => ''],
    ['half a PNG', async () => (await png()).subarray(0, 60).toString('base64')],
    ['more than 50 megapixels', () => base64(paint(8000, 6251).png({ compressionLevel: 9 }))],
  ])('is refused: %s', async (_, make) => {
    const before = await countPictures();
    const answer = await member.patch(picturePath(member), { profilePicture: await make() });
    expect(errorOf(answer)).toEqual(invalidPicture);
    expect(await countPictures()).toBe(before);
  });

  test('is refused over 4 MiB, while one of nearly 3 MiB is taken', async () => {
    const noise = sharp({
      create: {
        width: 1000,
        height: 700,
        channels: 3,
        background: '#000',
        noise: { type: 'gaussian', mean: 128, sigma: 60 },
      },
    });
    const profilePicture = await base64(noise.png({ compressionLevel: 0 }));
    expect(profilePicture.length).toBeGreaterThan(2.6 * 1024 * 1024);
    addressOf(await member.patch(picturePath(member), { profilePicture }));
    const large = await member.patch(picturePath(member), { profilePicture: 'A'.repeat(4 * 1024 * 1024) });
    expect(errorOf(large)).toEqual({ status: 413, code: 'BODY_TOO_LARGE' });
  });
});

/** The beginning of a PNG that claims a size, and nothing behind it that could be decoded. */
function headOfPng(width: number, height: number, bits = 8): string {
  const header = Buffer.alloc(17);
  header.write('IHDR');
  header.writeUInt32BE(width, 4);
  header.writeUInt32BE(height, 8);
  header.set([bits, 6, 0, 0, 0], 12);
  const chunk = (content: Buffer) => {
    const framed = Buffer.alloc(content.length + 8);
    framed.writeUInt32BE(content.length - 4);
    framed.set(content, 4);
    framed.writeUInt32BE(crc32(content), content.length + 4);
    return framed;
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk(header), chunk(Buffer.from('IDATx'))]).toString('base64');
}

describe('a picture that is too large', () => {
  test.each([
    [1, 50_000_000, 8, 'profilePicture must have at most 16,384 pixels on each side.'],
    [16_385, 1, 8, 'profilePicture must have at most 16,384 pixels on each side.'],
    [16_384, 16_384, 8, 'profilePicture must have at most 50 megapixels.'],
    [7_000, 7_000, 16, 'profilePicture must have at most 25 megapixels with 16 bits a channel.'],
  ])('is refused by its head, before it is decoded: %i x %i with %i bits', async (width, height, bits, detail) => {
    const answer = await member.patch(picturePath(member), { profilePicture: headOfPng(width, height, bits) });
    expect(errorOf(answer)).toEqual(invalidPicture);
    expect(answer.body).toMatchObject({ detail, issues: [{ code: 'too_big' }] });
  });

  test('and one of exactly the longest side is taken', async () => {
    const answer = await member.patch(picturePath(member), { profilePicture: await base64(paint(1, 16_384).png()) });
    expect(answer.status).toBe(200);
  });
});

describe('setting a picture', () => {
  test('of somebody else is for admins, and in another company there is nobody', async () => {
    const profilePicture = await base64(paint(4, 4).png());
    const answer = await member.patch(picturePath(admin), { profilePicture });
    expect(errorOf(answer)).toEqual({ status: 403, code: 'FORBIDDEN' });
    for (const actor of [member, admin]) {
      const foreign = await actor.patch(picturePath(foreigner), { profilePicture });
      const absent = await actor.patch('/employee/update-picture/999999/', { profilePicture });
      expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
      expect({ ...foreign.body, requestId: '' }).toEqual({ ...absent.body, requestId: '' });
    }
    expect((await foreigner.get(`/employee/me/${foreigner.employeeId}/`)).body.profilePicture).toBeNull();
  });
});

describe('the address of a picture', () => {
  test('answers a problem document for whatever is not there', async () => {
    const profilePicture = await base64(paint(4, 4).png());
    const path = addressOf(await member.patch(picturePath(member), { profilePicture }));
    const [, , companyId, pictureId] = path.split('/');
    const wrong = [
      `${foreigner.companyId}/${pictureId}`,
      `0${companyId}/${pictureId}`,
      `${companyId}/x`,
      `x/${pictureId}`,
    ];
    for (const address of [...wrong, `${companyId}/${crypto.randomUUID()}`, `99999999999999999999/${pictureId}`]) {
      expect(errorOf(await service.anonymous.get(`/pictures/${address}`))).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
    const wrongMethod = await service.anonymous.delete(path);
    expect(errorOf(wrongMethod)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    expect(wrongMethod.headers.get('allow')).toContain('GET, HEAD');
    expect((await fetchPicture(path, 'HEAD')).status).toBe(200);
  });
});
