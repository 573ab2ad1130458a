import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { notifyAccountOwner } from '../../../server/features/notices/account-notice.ts';
import { seal } from '../../../server/platform/seal.ts';
import type { Actor } from '../../support/actor.ts';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { acceptInvitation, startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* Which waiting jobs the erasure of a person reaches: those of their account and of their company, until that moment. */

const service = await startService();
const { clock, database, mailbox } = service;
const { db } = database;
const admin = await service.registerCompany();
const neighbour = await service.registerCompany();

const erase = async ({ employeeId }: Actor) =>
  expect((await admin.post(`/api/employees/${employeeId}/erase/`)).status).toBe(200);

/** Asks for a reset link that waits, because it could not be sent to its address. */
async function waitForMail(email: string): Promise<void> {
  await service.drain();
  mailbox.failNext(1);
  await service.anonymous.post('/reset/link/', { email });
  await service.drain();
  await sql`
    update jobs set due_at = due_at + interval '20 minutes', last_error = ${`no route to <${email}>`}
    where payload ->> 'email' = ${email}`.execute(db);
}

async function listWaiting(...emails: string[]): Promise<unknown[]> {
  const { rows } = await sql<{ email: string; last_error: string | null }>`
    select payload ->> 'email' as email, last_error from jobs
    where payload ->> 'email' = any(${emails}::text[]) order by job_id`.execute(db);
  return rows.map((row) => [row.email, row.last_error]);
}

test('mails that wait for another address which the company once gave the person are sent', async () => {
  const victim = await service.addEmployee(neighbour);
  const names = { first_name: 'Grace', last_name: 'Hopper', companyId: admin.companyId };
  const { body: added } = await admin.post('/employee/add/', { ...names, email: victim.email });
  const email = 'accomplice@example.com';
  expect((await admin.patch(`/api/employees/${added._id}/`, { email })).status).toBe(200);
  await acceptInvitation(database, { companyId: admin.companyId, email, now: clock.now() });
  const accomplice = await service.signIn(email);
  for (const address of [victim.email, email]) await waitForMail(address);
  await erase(accomplice);
  await service.drain();
  expect(await listWaiting(victim.email, email)).toEqual([[victim.email, `no route to <${victim.email}>`]]);
  clock.advance({ minutes: 25 });
  await service.drain();
  expect(mailbox.to(victim.email).map(({ subject }) => subject)).toContain('Set a new password');
});

test('mails that wait for colleagues do not name the person', async () => {
  const [person, colleague] = [
    await service.addEmployee(admin, { first_name: 'Sofia', last_name: 'Kovalevskaya' }),
    await service.addEmployee(admin),
  ];
  const { projectId } = await startWork(admin);
  await colleague.put(`/api/notification-preferences/${colleague.employeeId}/`, { task: { inApp: true, email: true } });
  await service.drain();
  mailbox.failNext(1);
  expect((await person.post('/api/tasks/', { projectId, title: 'Proof', owner_id: colleague.employeeId })).status).toBe(
    200,
  );
  await service.drain();
  await sql`update jobs set due_at = due_at + interval '20 minutes' where handler = 'notification-mail'`.execute(db);
  const namingJobs = () => sql`select from jobs where payload::text like '%Kovalevskaya%'`.execute(db);
  expect((await namingJobs()).rows).toHaveLength(1);
  await erase(person);
  await service.drain();
  expect((await namingJobs()).rows).toEqual([]);
  clock.advance({ minutes: 25 });
  await service.drain();
  expect(mailbox.to(colleague.email).at(-1)!.text).toContain(`Former employee ${person.employeeId}`);
});

test('mails that wait for a later account of the same address are sent', async () => {
  const person = await service.addEmployee(admin);
  await erase(person);
  await service.drain();
  clock.advance({ minutes: 1 });
  const { email } = await service.addEmployee(neighbour, { email: person.email });
  await waitForMail(email);
  const waiting = await listWaiting(email);
  expect(waiting).toHaveLength(1);
  // The second look.
  clock.advance({ minutes: 10 });
  await service.drain();
  expect(await listWaiting(email)).toEqual(waiting);
});

test.skipIf(database.kind === 'embedded')(
  'a mail that the account causes while its erasure waits is not sent',
  async () => {
    const person = await service.addEmployee(admin);
    const { email } = person;
    const holder = database.begin();
    await sql`select from accounts where email = ${email} for update`.execute(holder.db);
    const erased = erase(person);
    await waitForLockWaits(db, 1);
    clock.advance({ minutes: 1 });
    await notifyAccountOwner(holder.db, { email, notice: { kind: 'new device' }, now: clock.now() });
    await holder.commit();
    await erased;
    await sql`update jobs set due_at = due_at + interval '1 hour' where queue = 'mail'`.execute(db);
    expect(await listWaiting(email)).toHaveLength(1);
    await service.drain();
    expect(await listWaiting(email)).toEqual([]);
  },
);

test('no error of a mail of the company names the person, also where they had no account', async () => {
  const email = 'bounced@example.com';
  const names = { first_name: 'Grace', last_name: 'Hopper', companyId: admin.companyId };
  const { body: added } = await admin.post('/employee/add/', { ...names, email });
  await sql`update jobs set last_error = ${`no route to <${email}>`} where handler = 'send-invitation'`.execute(db);
  await admin.post(`/api/employees/${added._id}/erase/`);
  await sql`update jobs set due_at = due_at + interval '1 hour' where queue = 'mail'`.execute(db);
  await service.drain();
  const { rows } = await sql<{ last_error: string | null }>`
    select last_error from jobs
    where handler = 'send-invitation' and payload ->> 'companyId' = ${String(admin.companyId)}`.execute(db);
  expect([...new Set(rows.map((row) => row.last_error))]).toEqual([null]);
});

test('a job that the release before has enqueued, without the address of the account, deletes its mails too', async () => {
  const person = await service.addEmployee(admin);
  const { email, companyId, employeeId } = person;
  await waitForMail(email);
  await erase(person);
  const [key] = service.app.services.tokens.deriveKeys('erased person', `${companyId} ${employeeId}`);
  const sealed = await seal(JSON.stringify({ names: ['Grace Hopper'], addresses: ['work@example.com', email] }), key);
  await sql`
    update jobs set payload = payload || jsonb_build_object('sealed', ${sealed.toString()}::text)
    where handler = 'erase-traces' and payload ->> 'employeeId' = ${String(employeeId)}`.execute(db);
  await service.drain();
  expect(await listWaiting(email)).toEqual([]);
});
