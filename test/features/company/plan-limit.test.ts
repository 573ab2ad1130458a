import { expect, test } from 'vitest';
import { errorOf, type Actor, type Answer } from '../../support/actor.ts';
import { subscribe } from '../../support/plan.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const reached = { status: 409, code: 'PLAN_LIMIT_REACHED' };
const starterPlaces = 10;

let people = 0;
const add = ({ post, companyId }: Actor): Promise<Answer> =>
  post('/employee/add/', {
    first_name: 'Grace',
    last_name: 'Hopper',
    companyId,
    email: `place${(people += 1)}@example.com`,
  });

/** A company whose plan has ten places, of which so many are free. */
async function companyWithPlaces(free: number): Promise<{ admin: Actor; employeeIds: number[] }> {
  const admin = await service.registerCompany();
  await subscribe(service, admin, 'starter');
  const added = await Promise.all(Array.from({ length: starterPlaces - 1 - free }, () => add(admin)));
  expect(added.map(({ status }) => status)).toEqual(added.map(() => 200));
  return { admin, employeeIds: added.map(({ body }) => body._id) };
}

async function countActive(admin: Actor): Promise<number> {
  const { body } = await admin.get(`/employee/list/activeUsers/${admin.companyId}/`);
  return body.employees.length;
}

test('of 64 who are added at once for the last 3 places, 3 are, and nobody else is invited', async () => {
  const { admin } = await companyWithPlaces(3);
  await service.drain();
  const mails = service.mailbox.mails.length;
  const answers = await Promise.all(Array.from({ length: 64 }, () => add(admin)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map(errorOf)).toEqual(refused.map(() => reached));
  expect(refused[0]!.body.detail).toContain('10 places');
  expect(await countActive(admin)).toBe(starterPlaces);
  await service.drain();
  expect(service.mailbox.mails).toHaveLength(mails + 3);
});

test('a place that somebody leaves is free again, for one who comes back or a new one', async () => {
  const { admin, employeeIds } = await companyWithPlaces(0);
  const [left, deleted] = employeeIds;
  expect(errorOf(await add(admin))).toEqual(reached);
  expect((await admin.patch(`/api/employees/${left}/`, { is_active: false })).status).toBe(200);
  expect((await admin.delete(`/api/employees/${deleted}/`)).status).toBe(200);
  expect((await add(admin)).status).toBe(200);
  expect((await admin.post(`/api/employees/${deleted}/restore/`)).status).toBe(200);

  expect(errorOf(await admin.patch(`/api/employees/${left}/`, { is_active: true }))).toEqual(reached);
  expect((await admin.get(`/employee/me/${left}/`)).body.isActive).toBe(false);
  expect((await admin.delete(`/api/employees/${left}/`)).status).toBe(200);
  expect(errorOf(await admin.post(`/api/employees/${left}/restore/`))).toEqual(reached);
  // Restoring or activating who is there already takes no place.
  expect((await admin.post(`/api/employees/${deleted}/restore/`)).status).toBe(200);
  expect((await admin.patch(`/api/employees/${deleted}/`, { is_active: true })).status).toBe(200);
});

test('of many who are restored and activated at once, as many are as there are places', async () => {
  const { admin, employeeIds } = await companyWithPlaces(0);
  await Promise.all(employeeIds.slice(0, 4).map((id) => admin.delete(`/api/employees/${id}/`)));
  await Promise.all(employeeIds.slice(4).map((id) => admin.patch(`/api/employees/${id}/`, { is_active: false })));
  await Promise.all(Array.from({ length: 6 }, () => add(admin)));
  const answers = await Promise.all([
    ...employeeIds.slice(0, 4).map((id) => admin.post(`/api/employees/${id}/restore/`)),
    ...employeeIds.slice(4).map((id) => admin.patch(`/api/employees/${id}/`, { is_active: true })),
  ]);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(await countActive(admin)).toBe(starterPlaces);
});

/** A company whose plan has ten places, of which three are free, and 64 people who have left it. */
async function companyWithLeavers(leave: (admin: Actor, id: number) => Promise<Answer>) {
  const admin = await service.registerCompany();
  await subscribe(service, admin, 'enterprise');
  const leavers: Answer[] = [];
  for (let added = 0; added < 64; added += 8)
    leavers.push(...(await Promise.all(Array.from({ length: 8 }, () => add(admin)))));
  expect(leavers.filter(({ status }) => status !== 200)).toEqual([]);
  const left = await Promise.all(leavers.map(({ body }) => leave(admin, body._id)));
  expect(left.filter(({ status }) => status !== 200)).toEqual([]);
  await Promise.all(Array.from({ length: starterPlaces - 4 }, () => add(admin)));
  await subscribe(service, admin, 'starter');
  expect(await countActive(admin)).toBe(starterPlaces - 3);
  return { admin, ids: leavers.map(({ body }): number => body._id) };
}

test.each([
  [
    'restored',
    (admin: Actor, id: number) => admin.delete(`/api/employees/${id}/`),
    (admin: Actor, id: number) => admin.post(`/api/employees/${id}/restore/`),
  ],
  [
    'activated',
    (admin: Actor, id: number) => admin.patch(`/api/employees/${id}/`, { is_active: false }),
    (admin: Actor, id: number) => admin.patch(`/api/employees/${id}/`, { is_active: true }),
  ],
] as const)('of 64 who are %s at once for the last 3 places, 3 are', async (_, leave, comeBack) => {
  const { admin, ids } = await companyWithLeavers(leave);
  const answers = await Promise.all(ids.map((id) => comeBack(admin, id)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map(errorOf)).toEqual(refused.map(() => reached));
  expect(await countActive(admin)).toBe(starterPlaces);
});

test('an employee who is erased leaves a place', async () => {
  const { admin, employeeIds } = await companyWithPlaces(0);
  expect(errorOf(await add(admin))).toEqual(reached);
  expect((await admin.post(`/api/employees/${employeeIds[0]}/erase/`)).status).toBe(200);
  expect((await add(admin)).status).toBe(200);
});

test('a plan that has ended still counts, and one without a limit has none', async () => {
  const { admin } = await companyWithPlaces(0);
  const { db } = service.database;
  const ended = service.clock.now();
  await db
    .updateTable('subscriptions')
    .set({ status: 'expired', ends_at: ended })
    .where('company_id', '=', admin.companyId)
    .execute();
  expect(errorOf(await add(admin))).toEqual(reached);
  await subscribe(service, admin, 'enterprise');
  expect((await add(admin)).status).toBe(200);
});
