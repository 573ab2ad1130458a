import { openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { createClient } from 'work-management-client';
import { startService } from '../support/service.ts';
import { scriptFolder } from '../examples/run-script.ts';
import { connect, errorOf, sessionOf } from './clients.ts';
import { startWiretap } from './wiretap.ts';

const service = await startService();
const admin = await service.registerCompany();
const client = createClient({ baseUrl: service.url, session: sessionOf(admin.pair) });
/** Noise, so that it is longer than what is encoded at once. */
const noise = { type: 'gaussian' as const, mean: 128, sigma: 60 };
const png = await sharp({ create: { width: 200, height: 200, channels: 3, background: 'red', noise } })
  .png()
  .toBuffer();
const bytes = new Uint8Array(png);
const within = new Uint8Array(png.length + 20);
within.set(png, 7);
const file = join(scriptFolder(), 'ada.png');
await writeFile(file, png);

async function upload(profilePicture: Parameters<typeof client.employees.updatePicture>[0]['profilePicture']) {
  const { profilePicture: url } = await client.employees.updatePicture({ _id: admin.employeeId, profilePicture });
  const answer = await fetch(service.url + new URL(url!).pathname);
  return Buffer.from(await answer.arrayBuffer());
}

test('a picture is sent as a File, a Blob, bytes of any kind or base64, and is the same picture', async () => {
  expect(png.length).toBeGreaterThan(3 * 8192);
  const expected = await upload(png.toString('base64'));
  const same = [
    new File([bytes], 'ada.png', { type: 'image/png' }),
    new Blob([bytes]),
    await openAsBlob(file),
    bytes,
    bytes.buffer,
    png,
    within.subarray(7, 7 + png.length),
    new DataView(within.buffer, 7, png.length),
  ];
  for (const one of same) expect(expected.equals(await upload(one))).toBe(true);
});

test('null removes the picture', async () => {
  await upload(bytes);
  const { profilePicture } = await client.employees.updatePicture({ _id: admin.employeeId, profilePicture: null });
  expect(profilePicture).toBeNull();
});

test('a file that is no picture is refused as such', async () => {
  const error = await errorOf(upload(new File(['hello'], 'ada.png', { type: 'image/png' })));
  expect(error).toMatchObject({ code: 'VALIDATION_FAILED', issues: [{ path: ['profilePicture'] }] });
});

test('a file is read once, also if its request is tried again, and not changed', async () => {
  const line = await startWiretap(service.url);
  line.loseAnswers(1);
  let reads = 0;
  class Counted extends Blob {
    override async arrayBuffer() {
      reads += 1;
      return super.arrayBuffer();
    }
  }
  const input = { _id: admin.employeeId, profilePicture: new Counted([bytes]) };
  await connect(line.url, { session: sessionOf(admin.pair) }).employees.updatePicture(input);
  expect([line.requests().length, reads]).toEqual([2, 1]);
  expect(input.profilePicture).toBeInstanceOf(Counted);
});

test('a file that can no longer be read fails the call', async () => {
  const blob = await openAsBlob(file);
  await writeFile(file, 'another one, of another size');
  await expect(upload(blob)).rejects.toThrow(/could not be read/);
});
