import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Actor } from '../../support/actor.ts';
import { dayAfter, setHolidays, setHours } from '../../support/hours.ts';
import { logHours, setPolicy, submit } from '../../support/periods.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* On the morning of the last day of a period, those who have not handed it in are reminded. */

const service = await startService();
const { db } = service.database;
const { clock, app, mailbox } = service;
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const nothing = [0, 0, 0, 0, 0, 0, 0];
const title = 'Hand in your time today';

let admin: Actor;
/** The last day of the week of the policy, at whose beginning, at 06:00 UTC, each test begins. */
let last: string;
let first: string;

beforeEach(async () => {
  first = new Date(clock.now().getTime() + 24 * 3_600_000).toISOString().slice(0, 10);
  advanceTo(`${first}T06:00:00Z`);
  await service.drain();
  await app.mornings.run();
  // What ends in the tests before is reminded of there.
  await db.updateTable('time_policies').set({ require_approval: false }).execute();
  last = dayAfter(first, 6);
  admin = await service.registerCompany();
  await setPolicy(admin, { requireApproval: true, weekStart: weekdays[new Date(first).getUTCDay()] });
});

function advanceTo(moment: string): void {
  clock.advance({ ms: new Date(moment).getTime() - clock.now().getTime() });
}

async function wakeAt(moment: string): Promise<void> {
  advanceTo(moment);
  await app.mornings.run();
  await service.drain();
}

/** Who was reminded, in the order of the reminders. */
async function reminded(): Promise<number[]> {
  const rows = await db
    .selectFrom('notifications')
    .where('company_id', '=', admin.companyId)
    .where('title', '=', title)
    .select('recipient_id')
    .orderBy('notification_id')
    .execute();
  return rows.map((row) => row.recipient_id);
}

describe('who has not handed in a period', () => {
  test('is reminded at 08:00 on its last day, once', async () => {
    await wakeAt(`${dayAfter(last, -1)}T08:00:00Z`);
    await wakeAt(`${last}T07:59:59Z`);
    expect(await reminded()).toEqual([]);
    for (const moment of [`${last}T08:00:00Z`, `${last}T08:10:00Z`, `${dayAfter(last, 1)}T08:00:00Z`]) {
      await wakeAt(moment);
      expect(await reminded()).toEqual([admin.employeeId]);
    }
    const me = await service.signIn(admin.email);
    const { body } = await me.get(`/notifications/recipient/${me.employeeId}/?app_type=hr`);
    expect(body.results.filter((one: { title: string }) => one.title === title)).toMatchObject([
      {
        category: 'need_attention',
        priorty: 'primary',
        message: `The period from ${first} to ${last} ends today, and its time was not handed in yet.`,
        link: 'https://app.example.test/timesheet-periods',
        actor: null,
      },
    ]);
    await wakeAt(`${dayAfter(last, 7)}T08:00:00Z`);
    expect(await reminded()).toEqual([admin.employeeId, admin.employeeId]);
  });

  test('is reminded where it is open or rejected, not where it was submitted or approved', async () => {
    const [open, rejected, submitted, approved] = [
      await service.addEmployee(admin),
      await service.addEmployee(admin),
      await service.addEmployee(admin),
      await service.addEmployee(admin),
    ];
    const ids = new Map<Actor, number>();
    for (const one of [open, rejected, submitted, approved])
      ids.set(one, (await submit(one, one.employeeId, first)).body._id);
    const decide = (one: Actor, decision: string) =>
      admin.post('/api/timesheet-periods/decide/', { period_ids: [ids.get(one)], decision });
    expect((await open.post('/api/timesheet-periods/withdraw/', { period_id: ids.get(open) })).status).toBe(200);
    expect((await decide(rejected, 'reject')).body.results[0].result).toBe('rejected');
    expect((await decide(approved, 'approve')).body.results[0].result).toBe('approved');
    await wakeAt(`${last}T08:00:00Z`);
    expect(await reminded()).toEqual([admin.employeeId, open.employeeId, rejected.employeeId]);
  });

  test('is reminded of time, or of what is expected, and not without both, nor after they have left', async () => {
    const [worked, idle, away, left] = [
      await service.addEmployee(admin),
      await service.addEmployee(admin),
      await service.addEmployee(admin),
      await service.addEmployee(admin),
    ];
    const { taskId } = await startWork(admin);
    for (const one of [worked, idle]) await setHours(admin, one.employeeId, '2020-01-01', nothing);
    await logHours(worked, taskId, first, '03', '04');
    await setHours(admin, away.employeeId, '2020-01-01', [1, 1, 1, 1, 1, 1, 1]);
    const all = Array.from({ length: 7 }, (_, nth) => ({ date: dayAfter(first, nth), name: 'Works holiday' }));
    // All that is expected of them is on the day that is left.
    await setHolidays(admin, first, last, all.slice(0, 6));
    await setHours(admin, admin.employeeId, '2020-01-01', nothing);
    await admin.patch(`/api/employees/${left.employeeId}/`, { is_active: false });
    await wakeAt(`${last}T08:00:00Z`);
    expect(await reminded()).toEqual([worked.employeeId, away.employeeId]);
    const me = await service.signIn(admin.email);
    await setHolidays(
      me,
      dayAfter(first, 7),
      dayAfter(last, 7),
      all.map((one) => ({ ...one, date: dayAfter(one.date, 7) })),
    );
    await wakeAt(`${dayAfter(last, 7)}T08:00:00Z`);
    expect(await reminded()).toHaveLength(2);
  });

  test('is not reminded where nobody approves', async () => {
    await setPolicy(admin, { requireApproval: false });
    await wakeAt(`${last}T08:00:00Z`);
    expect(await reminded()).toEqual([]);
    const rows = await db
      .selectFrom('company_mornings')
      .where('company_id', '=', admin.companyId)
      .selectAll()
      .execute();
    expect(rows).toEqual([]);
  });

  test('is mailed about it, or not told, as they prefer', async () => {
    const [mailed, quiet] = [await service.addEmployee(admin), await service.addEmployee(admin)];
    const prefer = (one: Actor, inApp: boolean, email: boolean) =>
      one.put(`/api/notification-preferences/${one.employeeId}/`, { need_attention: { inApp, email } });
    await prefer(mailed, false, true);
    await prefer(quiet, false, false);
    await wakeAt(`${last}T08:00:00Z`);
    expect(await reminded()).toEqual([admin.employeeId]);
    expect(mailbox.to(mailed.email).filter(({ template }) => template === 'notification')).toMatchObject([
      { subject: title, text: expect.stringContaining(`The period from ${first} to ${last} ends today`) },
    ]);
    expect(mailbox.to(quiet.email).filter(({ template }) => template === 'notification')).toEqual([]);
  });
});

test('the day is that of the company, and of a month its last one', async () => {
  await setPolicy(admin, { period: 'month' });
  await db
    .updateTable('companies')
    .set({ timezone: 'Pacific/Auckland' })
    .where('company_id', '=', admin.companyId)
    .execute();
  const year = Number(first.slice(0, 4)) + 1;
  // In June it is 20:00 UTC of the day before.
  await wakeAt(`${year}-06-28T20:00:00Z`);
  await wakeAt(`${year}-06-29T19:59:59Z`);
  expect(await reminded()).toEqual([]);
  await wakeAt(`${year}-06-29T20:00:00Z`);
  expect(await reminded()).toEqual([admin.employeeId]);
  await wakeAt(`${year}-06-30T20:00:00Z`);
  expect(await reminded()).toHaveLength(1);
});

test('many are reminded in batches, each once, though several jobs run', async () => {
  await sql`
    with made as (
      insert into employees (company_id, email, first_name, last_name, search_text, created_at, updated_at)
      select ${admin.companyId}, 'many' || n || '@example.com', 'Many', 'N' || n, '', now(), now()
      from generate_series(1, 450) as n returning company_id, employee_id
    )
    insert into notification_counts (company_id, employee_id) select company_id, employee_id from made`.execute(db);
  advanceTo(`${last}T08:00:00Z`);
  await app.mornings.run();
  await Promise.all([service.drain(), service.drain()]);
  const ids = await reminded();
  expect(ids).toHaveLength(451);
  expect(new Set(ids).size).toBe(451);
});
