import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { FolderInUse, lockFolder } from '../../db/folder-lock.ts';

let folder = '';
const folders: string[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wms-lock-'));
  folders.push(folder);
});
afterAll(() => Promise.all(folders.map((one) => rm(one, { recursive: true }))));

/** A process that tries to lock the folder, says how that went, and holds on if it went well. */
async function startHolder(): Promise<{ holder: ChildProcess; said: string }> {
  const source = `
    const { lockFolder } = await import(${JSON.stringify(new URL('../../db/folder-lock.ts', import.meta.url).href)});
    try { lockFolder(${JSON.stringify(folder)}); console.log('held'); setInterval(() => {}, 1000); }
    catch (error) { console.log(error.name); }`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void holder.kill('SIGKILL'));
  const [said] = (await once(holder.stdout, 'data')) as [Buffer];
  return { holder, said: String(said).trim() };
}

test('a folder that another process holds is refused, again and again, with a sentence that names both', async () => {
  const { holder, said } = await startHolder();
  expect(said).toBe('held');
  for (let attempt = 0; attempt < 2; attempt += 1) expect(() => lockFolder(folder)).toThrow(FolderInUse);
  expect(() => lockFolder(folder)).toThrow(`The data folder ${folder} is in use by process ${holder.pid}.`);
  expect(() => lockFolder(folder)).toThrow(/DATA_DIR.*DATABASE_URL/);
});

test('a folder is free as soon as its holder was killed', async () => {
  const { holder } = await startHolder();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(() => lockFolder(folder).release()).not.toThrow();
});

test('a folder is free again after its release, and held twice by nobody', () => {
  const first = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(FolderInUse);
  first.release();
  lockFolder(folder).release();
});

test('of several processes at once one gets the folder', async () => {
  const outcomes = await Promise.all(Array.from({ length: 4 }, startHolder));
  expect(outcomes.map(({ said }) => said).toSorted()).toEqual(['FolderInUse', 'FolderInUse', 'FolderInUse', 'held']);
});
