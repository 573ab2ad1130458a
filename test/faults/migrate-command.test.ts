import { afterAll, expect, test } from 'vitest';
import { endAllProcesses, makeHome, runToEnd } from '../support/process.ts';

const home = await makeHome({ isNew: true });
const isServer = home.databaseUrl !== undefined;
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

const run = (name: string) => runToEnd(home.environment, [process.execPath, `server/commands/${name}.ts`]);

test.runIf(isServer)('migrate brings a database up to date without serving, and says what it did', async () => {
  const before = await run('verify-totals');
  expect([before.code, before.stderr]).toEqual([
    1,
    'The database is not up to date with this version: run `npm run migrate`, or start the service once.\n',
  ]);
  const first = await run('migrate');
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(/^The database took \d\d steps: 0001-accounts, /);
  expect(await run('migrate')).toMatchObject({ code: 0, stdout: 'The database was up to date.\n', stderr: '' });
  expect(await run('verify-totals')).toMatchObject({ code: 0 });
});

test.skipIf(isServer)('migrate makes no embedded database where there is none', async () => {
  const { code, stderr } = await run('migrate');
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^There is no database in .*: set DATA_DIR or DATABASE_URL/),
  ]);
});
