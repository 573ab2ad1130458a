import { afterAll, expect, test } from 'vitest';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer } from '../../db/open.ts';
import { endAllProcesses, makeHome, runToEnd, startProcess } from '../support/process.ts';

const home = await makeHome();
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

const command = [process.execPath, 'server/commands/verify-totals.ts'];
const verify = () => runToEnd(home.environment, command);

test('verify-totals says what it checked, exits with 1 where a total is wrong, and names it', async () => {
  const service = await startProcess({ ...home.environment, SEED_DEMO: 'true' });
  // The embedded database belongs to one process; a server's may be in use.
  const { code, stderr } = await verify();
  const refusal = home.databaseUrl === undefined ? /is in use by process/ : /^$/;
  expect([code, stderr]).toEqual([home.databaseUrl === undefined ? 1 : 0, expect.stringMatching(refusal)]);
  service.signal('SIGTERM');
  expect(await service.ended).toBe(0);

  const right = await verify();
  expect(right).toMatchObject({ code: 0, stderr: '' });
  expect(right.stdout).toMatch(
    /^Harbour Lane Studio \(1\): 1\d\d logs against \d+ days of work, the totals of 6 people, of 3 projects and of each day; \d+ tasks, \d+ comments and \d+ notifications against their counts: all agree$/m,
  );
  expect(right.stdout).toMatch(/^1 companies were checked, 0 differences were found\.$/m);

  const database =
    home.databaseUrl === undefined ? await openEmbedded({ folder: home.folder }) : openServer(home.databaseUrl);
  const { db } = database;
  await db
    .updateTable('work_totals')
    .set({ logged_seconds: 7 })
    .where('company_id', '=', 1)
    .where('employee_id', '=', 1)
    .execute();
  await db.updateTable('task_counts').set({ todo: 40 }).where('company_id', '=', 1).execute();
  await db
    .updateTable('company_counts')
    .set({ count: 43 })
    .where('company_id', '=', 1)
    .where('kind', '=', 'project')
    .execute();
  await db
    .updateTable('company_counts')
    .set({ count: 45 })
    .where('company_id', '=', 1)
    .where('owner_id', '=', 1)
    .execute();
  await db.updateTable('comment_counts').set({ posted: 41 }).where('company_id', '=', 1).execute();
  await db.updateTable('notification_counts').set({ unread: 42 }).where('company_id', '=', 1).execute();
  await db.updateTable('notification_tallies').set({ count: 44 }).where('company_id', '=', 1).execute();
  await database.close();
  const wrong = await verify();
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toMatch(/^ {2}logged seconds of employee 1: 7 is kept, \d+ is right$/m);
  expect(wrong.stdout).toMatch(/^ {2}todo tasks of employee \d in project \d: 40 is kept, \d+ is right$/m);
  expect(wrong.stdout).toMatch(/^ {2}active projects of the company: 43 is kept, 3 is right$/m);
  expect(wrong.stdout).toMatch(/^ {2}\w+ tasks of employee 1: 45 is kept, \d+ is right$/m);
  expect(wrong.stdout).toMatch(/^ {2}comments of employee \d: 41 is kept, \d+ is right$/m);
  expect(wrong.stdout).toMatch(/^ {2}unread notifications of employee \d: 42 is kept, \d+ is right$/m);
  expect(wrong.stdout).toMatch(
    /^ {2}notifications of employee \d that are task message \w+ [tf] f f f f: 44 is kept, \d+ is right$/m,
  );
  const named = wrong.stdout.match(/ is kept, /g)!.length;
  expect(wrong.stdout).toContain(`1 companies were checked, ${named} differences were found.`);
}, 120_000);

test('verify-totals makes no database where there is none', async () => {
  const empty = await makeHome({ isNew: true });
  const { code, stderr } = await runToEnd(empty.environment, command);
  await empty.remove();
  expect(code).toBe(1);
  expect(stderr).toMatch(
    empty.databaseUrl === undefined
      ? /^There is no database in .*: set DATA_DIR or DATABASE_URL as for the service\.\n$/
      : /^The database is not up to date with this version: run `npm run migrate`, or start the service once\.\n$/,
  );
});
