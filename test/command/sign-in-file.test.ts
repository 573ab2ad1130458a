import fs, { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import type { ClientSession } from 'work-management-client';
import { findConfigFolder, openSignInFile } from '../../client-sdk/command/sign-in-file.ts';

const root = mkdtempSync(join(tmpdir(), 'wms-sign-in-'));
afterAll(() => rmSync(root, { recursive: true }));

const url = 'https://one.example';
const session = (id: string, rotation: number): ClientSession => ({
  id,
  rotation,
  accessToken: `access ${id} ${rotation}`,
  refreshToken: `refresh ${id} ${rotation}`,
  expiresAt: null,
  employee: null,
  company: null,
});

let folders = 0;
const open = () => openSignInFile(join(root, String((folders += 1)), 'wms'));

test('it is where the system keeps settings', () => {
  expect(findConfigFolder('linux', {}, '/home/ada')).toBe('/home/ada/.config/wms');
  expect(findConfigFolder('linux', { XDG_CONFIG_HOME: '/x' }, '/home/ada')).toBe('/x/wms');
  expect(findConfigFolder('darwin', {}, '/Users/ada')).toBe('/Users/ada/Library/Application Support/wms');
  expect(findConfigFolder('win32', { APPDATA: 'C:/Roaming' }, 'C:/ada')).toBe(join('C:/Roaming', 'wms'));
});

test('it is replaced as a whole, for its owner only, and leaves nothing beside it', () => {
  const file = open();
  file.write({ url, apiKey: 'wms_1' });
  file.write({ url, apiKey: 'wms_2' });
  expect(file.read()).toEqual({ url, apiKey: 'wms_2' });
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  expect(statSync(join(file.path, '..')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(file.path, '..'))).toEqual(['sign-in.json']);
});

test('a session is given to the service that it is for', () => {
  const file = open();
  file.keeping(url).onSession(session('a', 0), 'signed in');
  expect(file.keeping(url).loadSession()).toMatchObject({ id: 'a' });
  expect(file.keeping('https://two.example').loadSession()).toBeNull();
});

test('of two commands that renew a session the newer tokens stay, and a sign-out or another sign-in too', () => {
  const file = open();
  file.keeping(url).onSession(session('a', 0), 'signed in');
  const [one, two] = [file.keeping(url), file.keeping(url)];
  one.loadSession();
  two.loadSession();
  two.onSession(session('a', 2), 'refreshed');
  one.onSession(session('a', 1), 'refreshed');
  expect(file.read()?.session?.rotation).toBe(2);

  file.keeping(url).onSession(session('b', 0), 'signed in');
  one.onSession(session('a', 3), 'refreshed');
  one.onSession(null, 'ended');
  expect(file.read()?.session?.id).toBe('b');

  file.write({ url });
  one.onSession(session('a', 4), 'refreshed');
  expect(file.read()).toEqual({ url });
});

test('a session in a folder that cannot be written is used and not renewed', () => {
  const file = open();
  const kept = file.keeping(url);
  kept.onSession({ ...session('a', 0), expiresAt: 1 }, 'signed in');
  // Not by the mode of the folder: root may write anywhere.
  const access = vi.spyOn(fs, 'accessSync').mockImplementation(() => {
    throw new Error('EACCES');
  });
  syncBuiltinESMExports();
  try {
    expect(kept.loadSession()).toMatchObject({ id: 'a', expiresAt: null });
    kept.onSession(session('a', 0), 'refreshed');
    kept.onSession(null, 'ended');
  } finally {
    access.mockRestore();
    syncBuiltinESMExports();
  }
  expect(kept.loadSession()).toMatchObject({ id: 'a', expiresAt: 1 });
});

test('where nothing can be written a sign-in fails, and says what needs no file', () => {
  writeFileSync(join(root, 'no-folder'), '');
  const file = openSignInFile(join(root, 'no-folder/wms'));
  expect(() => file.write({ url })).toThrow(
    /sign-in\.json cannot be written: ENOTDIR.*\. WMS_API_KEY needs no file\.$/,
  );
});

test('where the system makes no folder a sign-in fails, and names it', () => {
  expect(() => openSignInFile('/proc/none/.config/wms').write({ url })).toThrow(
    /^\/proc\/none\/.* cannot be written: .*'\/proc.*'\. WMS_API_KEY needs no file\.$/,
  );
});

test('a lock that a killed command has left is taken over', () => {
  const file = open();
  file.write({ url });
  const lock = `${file.path}.lock`;
  writeFileSync(lock, '');
  const longAgo = Date.now() / 1000 - 60;
  utimesSync(lock, longAgo, longAgo);
  file.write({ url, apiKey: 'wms_1' });
  expect(file.read()?.apiKey).toBe('wms_1');
});

test('a damaged file counts as none', () => {
  const file = open();
  file.write({ url });
  writeFileSync(file.path, '{"url":');
  expect(file.read()).toBeNull();
});
