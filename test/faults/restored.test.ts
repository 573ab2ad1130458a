import { sql } from 'kysely';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { leaveGap } from '../../db/restored.ts';
import { changeStream } from '../../server/kernel/change-streams.ts';
import { definitionOf, proceduresOf } from '../../server/kernel/definitions.ts';
import { appRouter } from '../../server/router.ts';
import { errorOf } from '../support/actor.ts';
import { overWebSocket, type Stream } from '../support/listener.ts';
import { endAllProcesses, makeHome, runToEnd } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';

/*
 * A restored database has forgotten what happened after its backup, and clients have not. Here the rows of that time are
 * taken back, and with them the numbers that were given out, as a restore does.
 */

const service = await startService();
const { database, url } = service;
const admin = await service.registerCompany();
const { projectId } = await startWork(admin);
afterAll(endAllProcesses);

async function say(taskId: number, count: number): Promise<void> {
  for (let said = 0; said < count; said += 1) {
    const comment = { taskId, sender: admin.employeeId, message: 'It turns' };
    expect((await admin.post('/api/task-chats/', comment)).status).toBe(200);
  }
}

async function loseEventsAfter(taskId: number, last: number): Promise<void> {
  const stream = `task ${taskId}`;
  await sql`delete from events where stream = ${stream} and sequence > ${last}`.execute(database.db);
  await sql`update event_streams set last_sequence = ${last} where stream = ${stream}`.execute(database.db);
  await sql`delete from event_streams where stream = ${stream} and last_sequence = 0`.execute(database.db);
}

async function hears(taskId: number, lastEventId: number, count: number) {
  const way = overWebSocket(url, admin.pair);
  onTestFinished(() => way.close());
  const listener = await way.listen('comments.onTask', { taskId, lastEventId: String(lastEventId) });
  return (await listener.hears(count)).map(({ type }) => type);
}

test.each([4, 0])(
  'who stood at event 6 of a stream that was restored to %i is told to read again, however many events came since',
  async (last) => {
    const taskId = await addTask(admin, projectId);
    await say(taskId, 6);
    await loseEventsAfter(taskId, last);
    await leaveGap(database.owner.db);
    expect(await hears(taskId, 6, 1)).toEqual(['stream.reset']);
    await say(taskId, 5);
    expect(await hears(taskId, 6, 1)).toEqual(['stream.reset']);
  },
);

test('who was behind the backup hears what it holds, and then is told to read again', async () => {
  const taskId = await addTask(admin, projectId);
  await say(taskId, 6);
  await loseEventsAfter(taskId, 4);
  await leaveGap(database.owner.db);
  await say(taskId, 1);
  expect(await hears(taskId, 3, 2)).toEqual(['comment.created', 'stream.reset']);
});

test('who subscribes afterwards hears all that comes, without gaps in the numbers', async () => {
  const taskId = await addTask(admin, projectId);
  await leaveGap(database.owner.db);
  const way = overWebSocket(url, admin.pair);
  onTestFinished(() => way.close());
  const listener = await way.listen('comments.onTask', { taskId, lastEventId: 'now' });
  await say(taskId, 2);
  const heard = await listener.hears(3);
  expect(heard.map(({ type }) => type)).toEqual(['stream.opened', 'comment.created', 'comment.created']);
  const [{ id } = { id: 0 }] = heard;
  expect(heard.map((event) => event.id)).toEqual([id, id + 1, id + 2]);
  expect(await hears(taskId, id, 2)).toEqual(['comment.created', 'comment.created']);
});

const subscriptions = [...proceduresOf(appRouter)]
  .filter(([, procedure]) => definitionOf(procedure).type === 'subscription')
  .map(([path]) => path as Stream);

test.each(subscriptions)('%s begins behind the gap where the backup has no event of its stream', async (path) => {
  const taskId = await addTask(admin, projectId);
  await sql`delete from event_streams where company_id = ${admin.companyId}`.execute(database.db);
  await leaveGap(database.owner.db);
  const way = overWebSocket(url, admin.pair);
  onTestFinished(() => way.close());
  const listener = await way.listen(path, { taskId, projectId, lastEventId: 'now' });
  expect((await listener.hears(1))[0]!.id).toBeGreaterThanOrEqual(1_000_000_000);
});

test('the streams that only webhooks have go on behind the gap too', async () => {
  const { companyId, employeeId } = admin;
  await sql`delete from event_streams where company_id = ${companyId}`.execute(database.db);
  await leaveGap(database.owner.db);
  const { rows } = await sql<{ stream: string }>`
    select stream from event_streams where company_id = ${companyId}`.execute(database.db);
  const subjects = {
    project: projectId,
    projects: companyId,
    timers: employeeId,
    periods: companyId,
    company: companyId,
  };
  const streams = Object.entries(changeStream).map(([kind, nameOf]) => nameOf(subjects[kind as keyof typeof subjects]));
  expect(rows.map(({ stream }) => stream)).toEqual(expect.arrayContaining(streams));
});

test('a refresh token of a session that was lost opens no session that is opened afterwards', async () => {
  const lost = await service.addEmployee(admin);
  const other = await service.addEmployee(admin);
  const { rows } = await sql<{ last: string }>`select max(session_id) as last from sessions`.execute(database.db);
  const session = await service.signIn(lost.email, admin.companyId);
  await sql`delete from sessions where session_id > ${rows[0]!.last}`.execute(database.db);
  await sql`select setval(pg_get_serial_sequence('sessions', 'session_id'), ${rows[0]!.last}::bigint)`.execute(
    database.db,
  );

  await leaveGap(database.owner.db);
  const after = await service.signIn(other.email, admin.companyId);
  const refresh = await service.anonymous.post('/api/token/refresh/', { refresh_token: session.pair.refresh_token });
  expect(errorOf(refresh)).toEqual({ status: 401, code: 'SESSION_ENDED' });
  expect((await after.get(`/employee/me/${after.employeeId}/`)).status).toBe(200);
});

test('a statement may take longer than those of the service', async () => {
  const db = database.owner.db;
  await sql`
    create function require_no_limit() returns trigger language plpgsql as $$
    begin
      if current_setting('statement_timeout') <> '0' then raise 'statements are limited'; end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger require_no_limit after update on event_streams for each statement execute function require_no_limit()`.execute(
    db,
  );
  onTestFinished(async () => void (await sql`drop function require_no_limit cascade`.execute(db)));
  if (database.kind === 'embedded') await sql`set statement_timeout = '30s'`.execute(db);
  await expect(leaveGap(db)).resolves.toBeUndefined();
});

test('npm run restored does that for the database of the settings', async () => {
  const home = await makeHome();
  onTestFinished(() => home.remove());
  const { code, stdout, stderr } = await runToEnd(home.environment, [process.execPath, 'server/commands/restored.ts']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('Numbers of events and identifiers go on behind a gap');
});
