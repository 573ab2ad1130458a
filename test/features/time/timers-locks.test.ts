import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockDays } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';
import { takeTimer } from '../../../server/features/timers/queries.ts';
import { errorOf, type Answer, type Caller } from '../../support/actor.ts';
import { makeKey } from '../../support/api-key.ts';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* No timer runs on for somebody who has left, or in a closed company, also where its start and the end overlap. */

const service = await startService();
const { clock, database } = service;
const { db } = database;

async function startCompany() {
  const admin = await service.registerCompany({ name: 'Gears' });
  const grace = await service.addEmployee(admin);
  return { admin, grace, ...(await startWork(admin)) };
}
type Company = Awaited<ReturnType<typeof startCompany>>;

const start = (actor: Caller, taskId: number) => actor.post('/api/tasklogs/timer/start/', { taskId });
const timersOf = async ({ admin }: Company) =>
  db.selectFrom('timers').where('company_id', '=', admin.companyId).select('employee_id').execute();
const logsOf = async ({ admin, taskId }: Company) => (await admin.get(`/taskLogs/task/${taskId}/`)).body.taskLogs;

const endings: Record<string, (company: Company) => Promise<Answer>> = {
  'employee is deactivated': ({ admin, grace }) =>
    admin.patch(`/api/employees/${grace.employeeId}/`, { is_active: false }),
  'employee is deleted': ({ admin, grace }) => admin.delete(`/api/employees/${grace.employeeId}/`),
  'employee is erased': ({ admin, grace }) => admin.post(`/api/employees/${grace.employeeId}/erase/`),
  'company is closed': ({ admin }) => admin.post(`/api/company/${admin.companyId}/close/`, { name: 'Gears' }),
};
const isClosing = (how: string) => how === 'company is closed';

/** Holds a lock in a transaction of its own. */
async function hold(lock: (held: Db) => Promise<unknown>) {
  const holder = database.begin();
  await lock(holder.db);
  return holder;
}
const lockTask = ({ taskId }: Company) =>
  hold((held) => sql`select from tasks where task_id = ${taskId} for update`.execute(held));

describe.skipIf(database.kind === 'embedded').each(Object.keys(endings))('a timer whose %s', (how) => {
  const end = endings[how]!;

  test('while it waits for the days, ends', async () => {
    const company = await startCompany();
    const { admin, grace, taskId } = company;
    const holder = await hold((held) => lockDays(held, admin.companyId, [grace.employeeId]));
    const started = start(grace, taskId);
    await waitForLockWaits(db, 1);
    const ended = end(company);
    await Promise.race([ended, waitForLockWaits(db, 2)]);
    await service.drain();
    await holder.rollback();

    expect((await started).status).toBe(200);
    expect((await ended).status).toBe(200);
    await service.drain();
    expect(await timersOf(company)).toEqual([]);
    expect(await logsOf(company)).toMatchObject([{ userId: grace.employeeId, manualAdd: false }]);
  });

  test.each(['a session', 'an API key'])('before it takes a lock, does not start with %s', async (credential) => {
    const company = await startCompany();
    const { grace, taskId } = company;
    const caller = credential === 'a session' ? grace : await makeKey(service, grace, ['time:read', 'time:write']);
    const holder = await lockTask(company);
    const started = start(caller, taskId);
    await waitForLockWaits(db, 1);
    expect((await end(company)).status).toBe(200);
    await service.drain();
    await holder.rollback();

    const left = { status: 401, code: credential === 'a session' ? 'SESSION_ENDED' : 'INVALID_TOKEN' };
    expect(errorOf(await started)).toEqual(isClosing(how) ? { status: 409, code: 'COMPANY_CLOSED' } : left);
    await service.drain();
    expect(await timersOf(company)).toEqual([]);
  });

  test('later than that was asked for, ends', async () => {
    const company = await startCompany();
    const { admin, grace, taskId } = company;
    const holder = await hold((held) =>
      isClosing(how)
        ? sql`select from companies where company_id = ${admin.companyId} for share`.execute(held)
        : sql`select from employees where employee_id = ${grace.employeeId} for key share`.execute(held),
    );
    const ended = end(company);
    await waitForLockWaits(db, 1);
    clock.advance({ minutes: 1 });
    expect((await start(grace, taskId)).status).toBe(200);
    await holder.rollback();
    expect((await ended).status).toBe(200);
    await service.drain();
    expect(await timersOf(company)).toEqual([]);
    expect(await logsOf(company)).toHaveLength(1);
  });
});

test.skipIf(database.kind === 'embedded')(
  'a timer starts while another one is stopped, without a deadlock',
  async () => {
    const { admin, grace, taskId } = await startCompany();
    const { companyId } = admin;
    const { employeeId } = grace;
    expect((await start(grace, taskId)).status).toBe(200);
    const stop = await hold((held) => takeTimer(held, { companyId, employeeId }));
    onTestFinished(() => stop.rollback());
    const started = start(grace, taskId);
    await waitForLockWaits(db, 1);
    // Shorter than a deadlock takes to be found.
    await sql`set local lock_timeout = '500ms'`.execute(stop.db);
    await lockDays(stop.db, companyId, [employeeId]);
    await stop.commit();
    expect((await started).status).toBe(200);
  },
);
