import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer } from '../../db/open.ts';
import { endAllProcesses, makeHome } from '../support/process.ts';

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

const remove = (typed: string) =>
  spawnSync(process.execPath, ['server/commands/remove-company.ts', '1'], {
    env: { PATH: process.env['PATH'], ...home.environment },
    input: typed,
    encoding: 'utf8',
    timeout: 30_000,
  });

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
