import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';

/* The client as the service itself serves it. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'wms-client-tgz-'));
afterAll(() => rm(folder, { recursive: true }));

const service = await startService();
const url = `${service.url}/client.tgz`;
const served = await fetch(url);
const bytes = Buffer.from(await served.arrayBuffer());

test('is a small archive that is sent as it is, and not again to those who have it', async () => {
  expect(served.status).toBe(200);
  expect(served.headers.get('content-type')).toBe('application/gzip');
  expect(served.headers.get('cache-control')).toBe('no-cache');
  expect(served.headers.get('content-length')).toBe(String(bytes.length));
  // fetch accepts gzip and br, but the archive is compressed already.
  expect(served.headers.get('content-encoding')).toBeNull();
  expect(bytes.length).toBeLessThan(200_000);
  const etag = served.headers.get('etag')!;
  expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
});

test('is found once for many who ask first', async () => {
  const fresh = await startService();
  const answers = await Promise.all(
    Array.from({ length: 64 }, async () => (await fetch(`${fresh.url}/client.tgz`)).arrayBuffer()),
  );
  expect(answers.every((answer) => bytes.equals(Buffer.from(answer)))).toBe(true);
});

test('answers HEAD with its length, and no other method', async () => {
  const head = await fetch(url, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
  expect(head.headers.get('etag')).toBe(served.headers.get('etag'));
  const post = await fetch(url, { method: 'POST' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

test('is the same, byte by byte, wherever and whenever it is built', { timeout: 60_000 }, async () => {
  const copy = join(folder, 'another place');
  for (const name of ['client-sdk', 'server', 'package.json', 'tsconfig.json'])
    await cp(join(root, name), join(copy, name), { recursive: true, filter: (path) => !/packed|dist$/.test(path) });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const env = { ...process.env, TZ: 'Asia/Tokyo', LANG: 'C' };
  await run('sh', ['-c', `umask 077 && exec "${process.execPath}" client-sdk/pack.ts`], { cwd: copy, env });
  expect(bytes.equals(await readFile(join(copy, 'client-sdk/packed/client.tgz')))).toBe(true);
});

test('is installed from the running service, and makes a call to it', { timeout: 60_000 }, async () => {
  const admin = await service.registerCompany();
  await startWork(admin);
  const app = join(folder, 'app');
  await cp(join(root, 'test/sdk/consumer/common.cjs'), join(app, 'common.cjs'));
  await writeFile(join(app, 'package.json'), '{"private": true}');
  // Its registry is a port that nothing listens on: only the service is asked.
  const alone = ['--registry', 'http://127.0.0.1:1', '--cache', join(folder, 'cache')];
  await run('npm', ['install', '--silent', '--no-audit', ...alone, url], { cwd: app });
  const manifest = JSON.parse(await readFile(join(app, 'package.json'), 'utf8')) as object;
  expect(manifest).toEqual({ private: true, dependencies: { 'work-management-client': url } });
  const { stdout } = await run(process.execPath, ['common.cjs'], {
    cwd: app,
    env: {
      BASE_URL: service.url,
      ACCESS_TOKEN: admin.pair.access_token,
      REFRESH_TOKEN: admin.pair.refresh_token,
      COMPANY_ID: String(admin.companyId),
    },
  });
  expect(stdout).toContain('require Turn the crank 200\n');
  expect(stdout).toContain('import Turn the crank 200\n');
});
