import { expect, test } from 'vitest';
import { operationsOf, type Operation } from '../../server/kernel/operations.ts';
import { appRouter } from '../../server/router.ts';
import { errorOf } from '../support/actor.ts';
import { readRowsOfCompany } from '../support/all-rows.ts';
import { startService } from '../support/service.ts';
import { kindOfParameter, urlOf } from '../support/smoke-calls.ts';
import { makeThings } from '../support/things.ts';

const service = await startService();
const { db } = service.database;
const admin = await service.signIn((await service.registerCompany()).email);
const things = await makeThings(service, admin, await service.addEmployee(admin));

const operations = operationsOf(appRouter);
const hasFields = ({ input, pathParameters }: Operation): boolean =>
  Object.keys(input?.shape ?? {}).some((field) => !pathParameters.includes(field));
const updates = operations.filter((one) => (one.method === 'PUT' || one.method === 'PATCH') && hasFields(one));
const bodiless = operations.filter((one) => one.method !== 'GET' && !hasFields(one));

/** What sets a whole, instead of fields of a record, is refused without it. */
const refused = [
  'PUT /api/rates/{company_id}/',
  'PUT /employee/password/{employee_id}/',
  'PUT /api/working-hours/{employee_id}/',
  'PUT /api/holidays/{company_id}/',
];

/** With the admin's own things in the path. */
const urlWithThings = (operation: Operation): string =>
  urlOf(
    operation,
    Object.fromEntries(operation.pathParameters.map((one) => [one, things[kindOfParameter(operation, one)]])),
  );

/**
 * All rows of the company: whatever a change could leave behind. Sessions and limits keep when they were used, and the audit log
 * has each call.
 */
const traces = () => readRowsOfCompany(db, admin.companyId, ['sessions', 'audit_log']);

test('only these refuse an update that names no field', () => {
  expect(refused.filter((line) => !updates.some(({ method, path }) => line === `${method} ${path}`))).toEqual([]);
});

test.each(
  updates
    .map((operation) => [`${operation.method} ${operation.path}`, operation] as const)
    .filter(([line]) => !refused.includes(line)),
)('%s with no field that it lists changes nothing', async (_line, operation) => {
  const { method } = operation;
  const path = urlWithThings(operation);
  // As a timer leaves it, so that a change would show.
  await db.updateTable('task_logs').set({ manual_add: false }).where('company_id', '=', admin.companyId).execute();
  await service.drain();
  service.clock.advance({ minutes: 1 });
  const before = await traces();
  const empty = await admin.send(method, path, {});
  expect(empty.status).toBe(200);
  const unknown = await admin.send(method, path, { nonsense: 1, updatedAt: '2020-01-01T00:00:00Z', manualAdd: true });
  expect({ status: unknown.status, body: unknown.body }).toEqual({ status: 200, body: empty.body });
  expect(await traces()).toEqual(before);
});

test.each(updates.map((operation) => [operation.method, operation.path, operation] as const))(
  '%s %s takes an object and nothing else',
  async (method, _path, operation) => {
    const url = urlWithThings(operation);
    const options = { headers: { 'content-type': 'application/json' } };
    for (const body of ['null', '[]', '[{}]', '"x"', '1', 'true', undefined]) {
      const answer = await admin.send(method, url, body, body === undefined ? {} : options);
      expect([body, errorOf(answer)]).toEqual([body, { status: 400, code: 'VALIDATION_FAILED', issues: [''] }]);
      expect(answer.body.issues[0].code).toBe('invalid_type');
    }
  },
);

test.each(bodiless.map((operation) => [operation.method, operation.path, operation] as const))(
  '%s %s has no body, and refuses one that is no object',
  async (method, _path, operation) => {
    const options = { headers: { 'content-type': 'application/json' } };
    for (const body of ['[]', '"x"', '1', 'true']) {
      const answer = await admin.send(method, urlWithThings(operation), body, options);
      expect([body, errorOf(answer)]).toEqual([body, { status: 400, code: 'VALIDATION_FAILED', issues: [''] }]);
      expect(answer.body.issues[0].message).toBe('must be a JSON object');
    }
  },
);
