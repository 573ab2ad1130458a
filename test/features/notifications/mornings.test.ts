import { sql } from 'kysely';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createMornings } from '../../../server/jobs/mornings.ts';
import { morning } from '../../../server/features/mornings/morning.ts';
import { planMornings } from '../../../server/features/mornings/plan-mornings.ts';
import { verifyCounts } from '../../../db/derived/verify-counts.ts';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { waitFor } from '../../support/waiting.ts';

const service = await startService();
const { database, clock, app } = service;
const { db } = database;
const dayMs = 24 * 3600 * 1000;

let admin: Actor;
let today: string;

/** Each test has a company of its own and begins at 06:00 UTC of a day that no test before has seen. */
beforeEach(async () => {
  const next = new Date(clock.now().getTime() + dayMs).toISOString().slice(0, 10);
  advanceTo(`${next}T06:00:00Z`);
  await app.mornings.run();
  admin = await service.registerCompany();
  today = next;
  onTestFinished(async () => {
    await service.drain();
    // Nothing of this test has a morning in the next one.
    await db.updateTable('tasks').set({ due_date: null }).execute();
    await db.updateTable('subscriptions').set({ status: 'expired' }).execute();
    const { differences } = await verifyCounts(db, admin.companyId);
    // Tasks are put straight into the database here, and are in no counts.
    const wrong = differences.filter(({ total }) => total.includes('notifications'));
    if (wrong.length > 0) throw new Error(`counts differ: ${JSON.stringify(wrong)}`);
  });
});

function advanceTo(moment: string): void {
  clock.advance({ ms: new Date(moment).getTime() - clock.now().getTime() });
}

/** A date so many days from the test's first. */
const dayAfter = (days: number): string => new Date(Date.parse(today) + days * dayMs).toISOString().slice(0, 10);

async function look(): Promise<number> {
  const planned = await app.mornings.run();
  await service.drain();
  return planned;
}

async function insertProject({ companyId, employeeId }: Actor): Promise<number> {
  const now = clock.now();
  const { project_id: projectId } = await db
    .insertInto('projects')
    .values({ company_id: companyId, name: 'Engine', owner_id: employeeId, created_at: now, updated_at: now })
    .returning('project_id')
    .executeTakeFirstOrThrow();
  return projectId;
}

/** A task that is due on a day; straight into the database, for it is not about how it is made. */
async function dueOn(owner: Actor, dueDate: string, collaborators: Actor[] = [], status = 'todo'): Promise<number> {
  const project_id = await insertProject(owner);
  const now = clock.now();
  const company = { company_id: owner.companyId };
  const { task_id } = await db
    .insertInto('tasks')
    .values({
      ...company,
      project_id,
      title: 'Cut gears',
      owner_id: owner.employeeId,
      due_date: dueDate,
      status,
      created_at: now,
      updated_at: now,
    })
    .returning('task_id')
    .executeTakeFirstOrThrow();
  for (const { employeeId } of collaborators)
    await db
      .insertInto('task_collaborators')
      .values({ ...company, task_id, employee_id: employeeId })
      .execute();
  return task_id;
}

async function setTask(taskId: number, values: { status?: string; due_date?: string; deleted_at?: Date }) {
  await db.updateTable('tasks').set(values).where('task_id', '=', taskId).execute();
}

/** Everything that people of a company have been told: [recipient, title]. */
async function told({ companyId }: Actor): Promise<[number, string][]> {
  const rows = await db
    .selectFrom('notifications')
    .where('company_id', '=', companyId)
    .select(['recipient_id', 'title'])
    .orderBy('notification_id')
    .execute();
  return rows.map((row) => [row.recipient_id, row.title]);
}

const setZone = ({ companyId }: Actor, timezone: string) =>
  db.updateTable('companies').set({ timezone }).where('company_id', '=', companyId).execute();

describe('a task that is due tomorrow', () => {
  test('is told to its owner and collaborators at 08:00, not before, and once', async () => {
    const bob = await service.addEmployee(admin);
    const cy = await service.addEmployee(admin);
    const taskId = await dueOn(bob, dayAfter(1), [admin, bob]);
    advanceTo(`${today}T07:59:50Z`);
    expect(await look()).toBe(0);
    expect(await told(admin)).toEqual([]);

    advanceTo(`${today}T08:00:00Z`);
    expect(await look()).toBe(1);
    const { body } = await bob.get(`/notifications/recipient/${bob.employeeId}/`);
    expect(body.results).toMatchObject([
      {
        app_type: 'task',
        category: 'task',
        priorty: 'primary',
        title: 'Cut gears is due tomorrow',
        message: `It is your task, and it is due on ${dayAfter(1)}.`,
        link: `https://app.example.test/tasks/${taskId}`,
        actor: null,
        taskId,
        projectId: expect.any(Number),
        commentId: null,
      },
    ]);
    const { body: others } = await admin.get(`/notifications/recipient/${admin.employeeId}/`);
    expect(others.results).toMatchObject([{ category: 'task', priorty: 'updates', taskId }]);
    expect((await cy.get(`/notifications/recipient/${cy.employeeId}/`)).body.total).toBe(0);

    await bob.delete(`/notifications/${bob.employeeId}/clear/`);
    for (const time of ['08:01', '08:15', '12:00', '23:59']) {
      advanceTo(`${today}T${time}:00Z`);
      expect(await look()).toBe(0);
    }
    expect(await told(admin)).toHaveLength(1);
  });

  test('and that is done, deleted or moved since, or deleted with its project, notifies nobody', async () => {
    const [done, deleted, moved, orphaned, kept] = await Promise.all(
      Array.from({ length: 5 }, () => dueOn(admin, dayAfter(1))),
    );
    await dueOn(admin, dayAfter(1), [], 'done');
    await dueOn(admin, dayAfter(2));
    await dueOn(admin, today);
    await setTask(done!, { status: 'done' });
    await setTask(deleted!, { deleted_at: clock.now() });
    advanceTo(`${today}T08:00:00Z`);
    expect(await app.mornings.run()).toBe(1);
    // Between the plan and its job.
    await setTask(moved!, { due_date: dayAfter(5) });
    await sql`
      update projects set deleted_at = now()
      where project_id = (select project_id from tasks where task_id = ${orphaned})`.execute(db);
    await service.drain();
    expect(await told(admin)).toHaveLength(1);
    const [{ task_id }] = (
      await sql<{ task_id: number }>`
      select task_id from notifications where company_id = ${admin.companyId}`.execute(db)
    ).rows as [{ task_id: number }];
    expect(task_id).toBe(kept);
  });

  test('is told to nobody who has left, and to nobody who wants no notifications of tasks', async () => {
    const leaver = await service.addEmployee(admin);
    const quiet = await service.addEmployee(admin);
    await quiet.put(`/api/notification-preferences/${quiet.employeeId}/`, { task: { inApp: false, email: false } });
    await dueOn(admin, dayAfter(1), [leaver, quiet]);
    await admin.patch(`/api/employees/${leaver.employeeId}/`, { is_active: false });
    advanceTo(`${today}T08:00:00Z`);
    await look();
    expect(await told(admin)).toEqual([[admin.employeeId, 'Cut gears is due tomorrow']]);
  });

  test('that is moved and moved back notifies once for each day', async () => {
    const taskId = await dueOn(admin, dayAfter(1));
    advanceTo(`${today}T08:00:00Z`);
    await look();
    await setTask(taskId, { due_date: dayAfter(2) });
    advanceTo(`${dayAfter(1)}T08:00:00Z`);
    await look();
    expect(await told(admin)).toHaveLength(2);
  });

  test('leaves other companies alone, and those without such tasks have no row', async () => {
    const other = await service.registerCompany({ name: 'Elsewhere' });
    const idle = await service.registerCompany({ name: 'Idle' });
    await dueOn(idle, dayAfter(9));
    await dueOn(admin, dayAfter(1));
    await dueOn(other, dayAfter(1));
    await setZone(other, 'America/Los_Angeles');
    advanceTo(`${today}T08:00:00Z`);
    expect(await look()).toBe(1);
    expect(await told(admin)).toHaveLength(1);
    expect(await told(other)).toEqual([]);
    const rows = await db.selectFrom('company_mornings').where('company_id', '=', idle.companyId).selectAll().execute();
    expect(rows).toEqual([]);
  });
});

describe('the hour', () => {
  test.each([
    ['Asia/Kathmandu', '02:15', 0],
    ['Pacific/Kiritimati', '18:00', 1],
    ['America/St_Johns', '11:30', 0],
  ])('is that of the company: %s', async (zone, utc, ahead) => {
    today = `${Number(today.slice(0, 4)) + 1}-01-15`;
    await setZone(admin, zone);
    await dueOn(admin, dayAfter(1 + ahead));
    advanceTo(new Date(Date.parse(`${today}T${utc}:00Z`) - 1000).toISOString());
    await look();
    expect(await told(admin)).toEqual([]);
    advanceTo(`${today}T${utc}:00Z`);
    await look();
    expect(await told(admin)).toHaveLength(1);
  });

  test('moves with the clocks', async () => {
    const year = Number(today.slice(0, 4)) + 1;
    const lastSunday = new Date(Date.UTC(year, 2, 31));
    lastSunday.setUTCDate(31 - lastSunday.getUTCDay());
    today = lastSunday.toISOString().slice(0, 10);
    await setZone(admin, 'Europe/Berlin');
    for (const days of [0, 1, 2]) await dueOn(admin, dayAfter(days));
    // Clocks are put forward on Sunday at 02:00: 08:00 is 07:00 UTC before, and 06:00 UTC from then on.
    for (const [moment, count] of [
      [`${dayAfter(-1)}T06:59:59Z`, 0],
      [`${dayAfter(-1)}T07:00:00Z`, 1],
      [`${dayAfter(0)}T05:59:59Z`, 1],
      [`${dayAfter(0)}T06:00:00Z`, 2],
      [`${dayAfter(1)}T05:59:59Z`, 2],
    ] as const) {
      advanceTo(moment);
      await look();
      expect([moment, (await told(admin)).filter(([, title]) => title.endsWith('due tomorrow')).length]).toEqual([
        moment,
        count,
      ]);
    }
  });

  test('of a company that moves is had with the change, and no day twice', async () => {
    await setZone(admin, 'America/Los_Angeles');
    await dueOn(admin, dayAfter(1));
    await dueOn(admin, dayAfter(2));
    advanceTo(`${today}T20:00:00Z`);
    await look();
    expect(await told(admin)).toHaveLength(1);
    advanceTo(`${today}T22:00:00Z`);
    const there = await service.signIn(admin.email);
    const path = `/company/${admin.companyId}/update/`;
    // There it is the next day, 11:00 in the morning.
    expect((await there.put(path, { timezone: 'Pacific/Auckland' })).status).toBe(200);
    await service.drain();
    expect(await told(admin)).toHaveLength(2);
    expect((await there.put(path, { timezone: 'America/Los_Angeles' })).status).toBe(200);
    expect((await there.put(path, { timezone: 'Pacific/Auckland' })).status).toBe(200);
    await look();
    expect(await told(admin)).toHaveLength(2);
  });

  test('that no node was there for is made up for on the same day', async () => {
    await dueOn(admin, dayAfter(1));
    advanceTo(`${today}T19:00:00Z`);
    expect(await look()).toBe(1);
    expect(await told(admin)).toHaveLength(1);
  });

  test('is had although a clock that was wrong has looked a year ahead', async () => {
    await dueOn(admin, dayAfter(1));
    await db
      .updateTable('morning_rounds')
      .set({ planned_until: new Date(clock.now().getTime() + 400 * dayMs) })
      .execute();
    expect(await look()).toBe(0);
    advanceTo(`${today}T08:00:01Z`);
    expect(await look()).toBe(1);
    expect(await look()).toBe(0);
  });
});

test('a service looks by itself once it has started, and ends at once when it is told to', async () => {
  await dueOn(admin, dayAfter(1));
  advanceTo(`${today}T08:00:00Z`);
  const mornings = createMornings(app.services, 0);
  mornings.start();
  const rows = () =>
    db.selectFrom('company_mornings').where('company_id', '=', admin.companyId).select('day').execute();
  await waitFor(async () => expect(await rows()).toEqual([{ day: today }]));
  await mornings.stop();
  await service.drain();
  expect(await told(admin)).toHaveLength(1);
});

describe('a task that is overdue', () => {
  test('waits for its owner on the morning after, once', async () => {
    const bob = await service.addEmployee(admin);
    const taskId = await dueOn(bob, today, [admin]);
    await setTask(await dueOn(bob, today), { status: 'done' });
    advanceTo(`${today}T08:00:00Z`);
    await look();
    expect(await told(admin)).toEqual([]);
    advanceTo(`${dayAfter(1)}T08:00:00Z`);
    await look();
    const { body } = await (await service.signIn(bob.email)).get(`/notifications/recipient/${bob.employeeId}/`);
    expect(body.results).toMatchObject([
      { app_type: 'task', category: 'need_attention', priorty: 'primary', title: 'Cut gears is overdue', taskId },
    ]);
    advanceTo(`${dayAfter(2)}T08:00:00Z`);
    await look();
    expect(await told(admin)).toEqual([[bob.employeeId, 'Cut gears is overdue']]);
  });
});

describe('a trial', () => {
  async function endOn(day: string): Promise<void> {
    const ends_at = new Date(`${day}T15:00:00Z`);
    await db.updateTable('subscriptions').set({ ends_at }).where('company_id', '=', admin.companyId).execute();
  }

  test('that ends in three days is a notice to everybody, once', async () => {
    const bob = await service.addEmployee(admin);
    await endOn(dayAfter(4));
    advanceTo(`${today}T08:00:00Z`);
    expect(await look()).toBe(0);
    for (const days of [1, 2, 3, 4]) {
      advanceTo(`${dayAfter(days)}T08:00:00Z`);
      expect([days, await look()]).toEqual([days, days === 1 ? 1 : 0]);
    }
    const title = 'Your trial ends in 3 days';
    expect(await told(admin)).toEqual([
      [admin.employeeId, title],
      [bob.employeeId, title],
    ]);
    const { body } = await (await service.signIn(bob.email)).get(`/notifications/recipient/${bob.employeeId}/`);
    expect(body.results).toMatchObject([{ app_type: 'hr', category: 'notice', priorty: 'others', taskId: null }]);
    expect(body.results[0].message).toContain(dayAfter(4));
  });

  test('of a company that has paid is nobody’s concern', async () => {
    await endOn(dayAfter(3));
    await sql`
      insert into subscriptions (company_id, plan_id, status, trial, starts_at, ends_at, created_at)
      select company_id, plan_id, 'active', false, starts_at, null, created_at
      from subscriptions where company_id = ${admin.companyId}`.execute(db);
    advanceTo(`${today}T08:00:00Z`);
    await look();
    expect(await told(admin)).toEqual([]);
  });
});

describe('many', () => {
  const count = 450;

  async function insertMany(): Promise<void> {
    const project = await insertProject(admin);
    await sql`
      insert into tasks (company_id, project_id, title, owner_id, due_date, created_at, updated_at)
      select ${admin.companyId}, ${project}, 'T' || n, ${admin.employeeId}, ${dayAfter(1)}::date, now(), now()
      from generate_series(1, ${count}::integer) as n`.execute(db);
  }

  test('are told in batches, and go on where a killed process left them', async () => {
    await insertMany();
    advanceTo(`${today}T08:00:00Z`);
    expect(await app.mornings.run()).toBe(1);
    // As if killed between the second batch and its end: that batch was committed, and its job is run once more.
    const leftover = await db.selectFrom('jobs').where('handler', '=', 'morning').selectAll().execute();
    expect(leftover).toHaveLength(1);
    const services = { ...app.services, mailer: service.mailbox, wakeWorker: () => {} };
    const once = () =>
      morning.run(services, leftover[0]!.payload, { dedupeKey: leftover[0]!.dedupe_key, createdAt: clock.now() });
    await once();
    expect(await told(admin)).toHaveLength(200);
    await admin.delete(`/notifications/${admin.employeeId}/clear/`);
    await once();
    expect(await told(admin)).toHaveLength(200);
    await service.drain();
    const titles = (await told(admin)).map(([, title]) => title);
    expect(titles).toHaveLength(count - 200);
    expect(new Set(titles).size).toBe(count - 200);
    expect(titles).not.toContain('T1 is due tomorrow');
  });

  test('nodes that plan and run jobs at once tell each person once', async () => {
    await insertMany();
    advanceTo(`${today}T08:00:00Z`);
    const planned = await Promise.all(Array.from({ length: 8 }, () => planMornings(app.services)));
    expect(planned.reduce((sum, one) => sum + one, 0)).toBe(1);
    const services = { ...app.services, mailer: service.mailbox, wakeWorker: () => {} };
    const payload = { companyId: admin.companyId, day: today };
    await Promise.all([
      service.drain(),
      ...Array.from({ length: 4 }, () =>
        morning.run(services, payload, { dedupeKey: 'again', createdAt: clock.now() }),
      ),
    ]);
    await service.drain();
    const titles = (await told(admin)).map(([, title]) => title);
    expect(titles).toHaveLength(count);
    expect(new Set(titles).size).toBe(count);
  });
});
