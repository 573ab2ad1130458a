import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer } from '../../db/open.ts';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import { endAllProcesses, makeHome, runToEnd } from '../support/process.ts';

const home = await makeHome();
beforeAll(async () => {
  const database =
    home.databaseUrl === undefined ? await openEmbedded({ folder: home.folder }) : openServer(home.databaseUrl);
  await database.owner.db
    .insertInto('companies')
    .values({ name: 'Harbour', timezone: 'UTC', created_at: new Date(), updated_at: new Date() })
    .execute();
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
