import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer, type Database } from '../../db/open.ts';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import { endAllProcesses, makeHome, runToEnd } from '../support/process.ts';
import { waitUntil } from '../support/waiting.ts';

const home = await makeHome();
const addCompany = ({ owner }: Database) =>
  owner.db
    .insertInto('companies')
    .values({ name: 'Harbour', timezone: 'UTC', created_at: new Date(), updated_at: new Date() })
    .returning('company_id')
    .executeTakeFirstOrThrow();
beforeAll(async () => {
  const database =
    home.databaseUrl === undefined ? await openEmbedded({ folder: home.folder }) : openServer(home.databaseUrl);
  await addCompany(database);
  await database.close();
});
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

const keys = await generateKeys();
const remove = (typed: string) =>
  spawnSync(process.execPath, ['server/commands/remove-company.ts', '1'], {
    env: { PATH: process.env['PATH'], ...home.environment, AUTH_KEYS: keys },
    input: typed,
    encoding: 'utf8',
    timeout: 30_000,
  });

test.each([['remove-company', '1', '--yes'], ['verify-audit']])(
  '%s refuses keys that the service does not have, and creates none',
  async (name, ...given) => {
    const command = [process.execPath, `server/commands/${name}.ts`, ...given];
    expect(await runToEnd(home.environment, command)).toEqual({
      code: 1,
      stdout: '',
      stderr: `There are no keys in ${home.folder}: set AUTH_KEYS or DATA_DIR as for the service.\n`,
    });
    expect(existsSync(join(home.folder, 'auth-keys.json'))).toBe(false);
  },
);

test.each([
  ['nothing', ''],
  ['another name', 'Harbor\n'],
])('remove-company ends and removes nothing where its question is answered by %s', (_, typed) => {
  const { status, signal, stdout } = remove(typed);
  expect([status, signal]).toEqual([1, null]);
  expect(stdout).toContain('Nothing was removed.\n');
});

test('remove-company removes the company whose name is typed', () => {
  expect(remove('Harbour\n')).toMatchObject({ status: 0, stdout: expect.stringContaining('Company 1 is removed.\n') });
  expect(remove('')).toMatchObject({ status: 1, stdout: 'There is no company 1.\n' });
});

test.runIf(home.databaseUrl !== undefined)('remove-company says so where another process was faster', async () => {
  const database = openServer(home.databaseUrl!);
  const { company_id: id } = await addCompany(database);
  const command = ['server/commands/remove-company.ts', String(id)];
  const running = spawn(process.execPath, command, { env: { ...home.environment, AUTH_KEYS: keys } });
  const said = { text: '' };
  running.stdout.on('data', (chunk: Buffer) => void (said.text += String(chunk)));
  await waitUntil(() => said.text.includes('Type the name'), { timeout: 30_000 });
  await database.owner.db.deleteFrom('companies').where('company_id', '=', id).execute();
  await database.close();
  running.stdin.end('Harbour\n');
  expect(await once(running, 'close')).toEqual([0, null]);
  expect(said.text).toContain(`Company ${id} is removed: another process was faster.\n`);
});
