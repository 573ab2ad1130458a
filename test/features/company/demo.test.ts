import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findDemoSignIn, seedDemo } from '../../../server/demo/demo.ts';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'wms-demo-'));
const file = join(folder, 'demo-sign-in.json');
afterAll(() => rmSync(folder, { recursive: true }));

const service = await startService();
const { services } = service.app;

let admin: Actor;
beforeAll(async () => {
  // Two nodes that start at once.
  await Promise.all([seedDemo(services, file), seedDemo(services, join(folder, 'other-node.json'))]);
  await service.drain();
  const made =
    (await findDemoSignIn(services, file)) ?? (await findDemoSignIn(services, join(folder, 'other-node.json')));
  const { status, body } = await service.anonymous.post('/login/', made);
  if (status !== 200) throw new Error('the demo sign-in does not work');
  admin = { ...service.as(body), employeeId: body.employee._id, companyId: body.company.company_id } as Actor;
});

async function count(table: 'companies' | 'employees'): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from ${sql.table(table)} where company_id > 0`.execute(service.database.db);
  return rows[0]!.count;
}

describe('the demo company', () => {
  test('is made once, also by two nodes at once, and stays as it is', async () => {
    expect([await count('companies'), await count('employees')]).toEqual([1, 7]);
    const third = join(folder, 'third.json');
    await seedDemo(services, third);
    expect(await count('companies')).toBe(1);
    expect(await findDemoSignIn(services, third)).toBeUndefined();
  });

  test('keeps its password in a file of its own, for one user, as long as it works', async () => {
    const kept = ['demo-sign-in.json', 'other-node.json']
      .map((name) => join(folder, name))
      .find((one) => statSync(one, { throwIfNoEntry: false }))!;
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    const signIn = JSON.parse(readFileSync(kept, 'utf8')) as { email: string; password: string };
    expect(await findDemoSignIn(services, kept)).toEqual(signIn);
    expect(service.log()).not.toContain(signIn.password);
  });

  test('has people, tasks, hours and comments that a newcomer finds through the interface', async () => {
    const { companyId } = admin;
    const active = await admin.get(`/employee/list/activeUsers/${companyId}/`);
    expect(active.body.employees).toHaveLength(6);
    const found = await admin.get(`/employees/search/${companyId}/?q=mateo`);
    expect(found.body.employees).toHaveLength(1);
    const details = await admin.get(`/company/${companyId}/details/`);
    expect(details.body.subscriptions).toMatchObject([{ status: 'trialing', trial: true }]);
    expect(Date.parse(details.body.subscriptions[0].endsAt)).toBeGreaterThan(Date.now());

    const tasks = await admin.get(`/api/tasks/company/${companyId}/`);
    expect(tasks.body.total).toBe(10);
    const tickets = tasks.body.results.find((task: { title: string }) => task.title.startsWith('Ticket checkout'));
    const chat = await admin.get(`/api/tasks/chat/${tickets._id}/`);
    expect(chat.body.comments).toMatchObject([
      { likeCount: 1, replies: [{ likeCount: 2, replies: [{ replies: [] }] }] },
      { mentions: [{ _id: admin.employeeId }] },
    ]);
    const logs = await admin.get(`/taskLogs/task/${tickets._id}/`);
    expect(logs.body.taskLogs.length).toBeGreaterThan(0);
    const now = Date.now();
    for (const { endTime } of logs.body.taskLogs) expect(Date.parse(endTime)).toBeLessThan(now);
  });

  test('has last week handed in by some: it waits, is approved, or is rejected with a note', async () => {
    const { companyId } = admin;
    expect((await admin.get(`/api/time-policy/${companyId}/`)).body.requireApproval).toBe(true);
    const { body } = await admin.get(`/api/timesheet-periods/company/${companyId}/`);
    const found = body.results.map(({ name, status }: { name: string; status: string }) => `${name}: ${status}`);
    expect(found.toSorted()).toEqual([
      'Fatima El Idrissi: submitted',
      'Jonas Lindqvist: rejected',
      'Mei-Ling Chen: submitted',
      'Priya Raman: approved',
    ]);
    for (const { totalSeconds, expectedMinutes, note, status } of body.results) {
      expect(expectedMinutes).toBe(2_400);
      expect(Math.abs(totalSeconds / 3_600 - 40)).toBeLessThan(5);
      expect(note !== null).toBe(status === 'rejected');
    }
  });

  test('has holidays, and a person with short Fridays', async () => {
    const { companyId } = admin;
    const year = service.clock.now().getUTCFullYear();
    const { body } = await admin.get(`/api/holidays/${companyId}/?from=${year}-05-01&to=${year}-05-31`);
    expect(body.holidays).toEqual([{ date: `${year}-05-01`, name: 'Labour Day' }]);
    const found = await admin.get(`/employees/search/${companyId}/?q=mateo`);
    const hours = await admin.get(`/api/working-hours/${found.body.employees[0]._id}/`);
    expect(hours.body.entries).toEqual([{ validFrom: expect.any(String), minutes: [540, 540, 540, 540, 240, 0, 0] }]);
  });

  test('adds up: hours by day, person and project, counts of notifications', async () => {
    const { companyId } = admin;
    const { checked, differences } = await verifyTotals(service.database.db, companyId);
    expect(differences).toEqual([]);
    expect(checked).toMatchObject({ people: 6, projects: 3 });
    expect(checked.days).toBeGreaterThan(50);
    const counts = await sql<{ wrong: number; unread: number }>`
      select count(*) filter (where c.unread <> n.unread or c.total <> n.total) as wrong, sum(c.unread)::integer as unread
      from notification_counts as c cross join lateral (
        select count(*) as total, count(*) filter (where not is_read) as unread from notifications
        where company_id = c.company_id and recipient_id = c.employee_id
      ) as n where c.company_id = ${companyId}`.execute(service.database.db);
    expect(counts.rows[0]!.wrong).toBe(0);
    expect(counts.rows[0]!.unread).toBeGreaterThan(5);
  });

  test('tells its admin that a project is over its hours, and sends no mail', async () => {
    const { rows } = await sql<{ category: string; is_mention: boolean }>`
      select category, is_mention from notifications
      where company_id = ${admin.companyId} and recipient_id = ${admin.employeeId}
      order by notification_id`.execute(service.database.db);
    expect(rows).toContainEqual({ category: 'message', is_mention: true });
    expect(rows).toContainEqual({ category: 'project', is_mention: false });
    expect(service.mailbox.mails).toEqual([]);
  });
});
