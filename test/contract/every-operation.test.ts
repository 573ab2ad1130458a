import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operationsOf, type Operation } from '../../server/kernel/operations.ts';
import { identifiersIn } from '../../server/kernel/wire/identifiers.ts';
import { appRouter } from '../../server/router.ts';
import { errorOf, type Answer, type Caller } from '../support/actor.ts';
import { readRowsOfCompany } from '../support/all-rows.ts';
import { keepRows } from '../support/kept-rows.ts';
import { password, startService } from '../support/service.ts';
import { callOperation, exampleWith, kindOfParameter, placesOf, putAt, type Input } from '../support/smoke-calls.ts';
import { makeTwoCompanies, type Things } from '../support/things.ts';

/*
 * What holds for every operation: its parts of the input that name things are known here,
 * it serves only whom it says, and it tells nobody what another company has.
 */
const service = await startService();
const { anonymous, database } = service;
const operations = operationsOf(appRouter);
const closed = operations.filter(({ meta }) => meta.access !== 'open');

const { admin, plain, neighbour, theirs, own } = await makeTwoCompanies(service);
const homeless = await signInHomeless();
const restore = await keepRows(database.db);
const absentId = 987_654_321;

/** What an example cannot know of the day, the database and the person. */
const fitting: Record<string, Record<string, unknown>> = {
  'employees.create': { email: 'fitting@example.com' },
  'apiKeys.create': { expiresAt: null },
  'passwords.change': { current_password: password },
  'comments.create': { mentionedEmails: [] },
};

/** What the operation documents as its example, with the given things in place of those that it names. */
const inputOf = (operation: Operation, things: Things): Input =>
  exampleWith(operation, (kind) => things[kind], fitting[operation.name]);

const withoutRequestId = ({ status, body }: Answer) => ({ status, body: { ...body, requestId: undefined } });

const neighboursRows = () => readRowsOfCompany(database.db, theirs.company);

/** Someone whose only company has let them go. */
async function signInHomeless(): Promise<Caller> {
  const email = 'homeless@example.com';
  const person = await service.addEmployee(admin, { email });
  await admin.delete(`/api/employees/${person.employeeId}/`);
  await anonymous.post('/verify-email/', { email });
  await service.drain();
  const { status, body } = await anonymous.post('/otp-login/', { email, otp: service.mailbox.lastCode(email) });
  expect([status, body.employee, body.company]).toEqual([200, null, null]);
  return service.as(body);
}

/** The names of all whole numbers in a schema. */
function wholeNumbersIn(schema: z.core.JSONSchema.BaseSchema, name = ''): string[] {
  const { type, properties = {}, items, anyOf = [] } = schema;
  const parts = [...anyOf, items ?? []].flat().map((part) => [name, part] as const);
  return [
    ...(type === 'integer' ? [name] : []),
    ...[...Object.entries(properties), ...parts].flatMap(([field, part]) =>
      wholeNumbersIn(part as z.core.JSONSchema.BaseSchema, field),
    ),
  ];
}

test('every field that is called an identifier says by idOf() what it names', () => {
  const bare = operations.flatMap(({ name, input }) => {
    const known = new Set(input && identifiersIn(input).map((one) => one.name));
    const fields = input === undefined ? [] : wholeNumbersIn(z.toJSONSchema(input, { io: 'input' }));
    return fields
      .filter((field) => /(_id|Id|_ids|Ids)$/.test(field) && !known.has(field))
      .map((field) => [name, field]);
  });
  expect(bare).toEqual([]);
});

describe('who may call', () => {
  test('is open to a stranger exactly where the contract says so', () => {
    const open = operations.filter(({ meta }) => meta.access === 'open').map(({ path }) => path);
    const documented = [
      '/login/',
      '/api/google-login/',
      '/api/apple-login/',
      '/verify-email/',
      '/otp-login/',
      '/token-login/',
      '/get-register-otp/',
      '/api/create-company-and-employee/',
      '/reset/link/',
      '/reset/verify/',
      '/api/token/refresh/',
    ];
    expect(open.toSorted()).toEqual(documented.toSorted());
  });

  test.each(operations.filter(({ meta }) => meta.access === 'open').map((one) => [one.name, one] as const))(
    '%s does not ask a stranger to sign in',
    async (_name, operation) => {
      const { status, body } = await callOperation(anonymous, operation, inputOf(operation, own));
      expect(['UNAUTHENTICATED', 'TOKEN_PAIR_REQUIRED', 'COMPANY_REQUIRED']).not.toContain(body.code);
      expect(status).toBeLessThan(500);
    },
  );

  test.each(closed.map((one) => [one.name, one] as const))(
    '%s refuses a stranger and half a pair before it looks at the input',
    async (_name, operation) => {
      const { access_token, refresh_token } = admin.pair;
      const bearer = { authorization: `Bearer ${access_token}` };
      const refuse = async (headers: Record<string, string>, changes: Record<string, unknown>) => {
        const send: Caller['send'] = (method, path, body) => anonymous.send(method, path, body, { headers });
        return errorOf(await callOperation({ send }, operation, { ...inputOf(operation, own), ...changes }));
      };
      const invalid = Object.fromEntries(Object.keys(operation.input?.shape ?? {}).map((field) => [field, 'x']));
      for (const changes of [{}, invalid]) {
        expect(await refuse({}, changes)).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
        expect(await refuse(bearer, changes)).toEqual({ status: 401, code: 'TOKEN_PAIR_REQUIRED' });
        expect(await refuse({ 'x-refresh-token': refresh_token }, changes)).toEqual({
          status: 401,
          code: 'TOKEN_PAIR_REQUIRED',
        });
        expect(await refuse({ ...bearer, 'x-refresh-token': neighbour.pair.refresh_token }, changes)).toEqual({
          status: 401,
          code: 'TOKEN_PAIR_REQUIRED',
        });
      }
    },
  );

  test.each(
    closed
      .filter(({ meta }) => meta.access !== 'signedIn' && meta.access !== 'session')
      .map((one) => [one.name, one] as const),
  )('%s refuses a session without a company', async (_name, operation) => {
    expect(errorOf(await callOperation(homeless, operation, inputOf(operation, own)))).toEqual({
      status: 403,
      code: 'COMPANY_REQUIRED',
    });
  });

  test.each(closed.filter(({ meta }) => meta.access === 'admin').map((one) => [one.name, one] as const))(
    '%s refuses an employee who is no admin',
    async (_name, operation) => {
      expect(errorOf(await callOperation(plain, operation, inputOf(operation, own)))).toEqual({
        status: 403,
        code: 'ADMIN_REQUIRED',
      });
    },
  );
});

describe('another company', () => {
  const byParameter = closed.flatMap((operation) =>
    operation.pathParameters.map((parameter) => [operation.name, parameter, operation] as const),
  );

  test.each(byParameter)('%s: its {%s} is not there, like one that never was', async (_name, parameter, operation) => {
    const before = await neighboursRows();
    const send = (id: number) => callOperation(admin, operation, { ...inputOf(operation, own), [parameter]: id });
    const foreign = await send(theirs[kindOfParameter(operation, parameter)]);
    const absent = await send(absentId);
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(withoutRequestId(foreign)).toEqual(withoutRequestId(absent));
    expect(await neighboursRows()).toEqual(before);
  });

  const byField = closed.flatMap((operation) =>
    placesOf(operation).map((place) => [operation.name, place.name, place, operation] as const),
  );

  /** Not 400: what the contract has these answer instead. */
  const otherwise: Record<string, number> = {
    'comments.create sender': 403,
    'notifications.delete notification_ids': 200,
  };

  test.each(byField)('%s: its %s names nothing, like one that never was', async (name, field, place, operation) => {
    const before = await neighboursRows();
    const send = (id: number) => {
      const input = putAt(inputOf(operation, own), place.steps, id) as Input;
      return callOperation(admin, operation, input);
    };
    const foreign = await send(theirs[place.kind]);
    expect(withoutRequestId(foreign)).toEqual(withoutRequestId(await send(absentId)));
    const status = otherwise[`${name} ${field}`] ?? 400;
    expect(foreign.status).toBe(status);
    const issues = (foreign.body.issues ?? []) as { path: (string | number)[]; code: string }[];
    const named = new Set(issues.map(({ path, code }) => (path.includes(field) ? code : `${code} elsewhere`)));
    expect(named).toEqual(new Set(status === 400 ? ['not_found'] : []));
    expect(await neighboursRows()).toEqual(before);
  });

  /** A timer ends once, and there may be none. */
  const endingTimer = new Set(['timers.stop', 'timers.discard']);

  // Of one that is for keys alone test/features/accounts/api-key-scopes.test.ts tells.
  const ofSessions = closed.filter(({ meta }) => meta.keys !== 'any key');

  test('every operation that reads serves its documented example with things of one’s own', async () => {
    for (const operation of ofSessions.filter(({ type }) => type === 'query')) {
      const { status, body } = await callOperation(admin, operation, inputOf(operation, own));
      expect([operation.name, status, body.code]).toEqual([operation.name, 200, undefined]);
    }
  });

  test.each(ofSessions.filter(({ type }) => type === 'mutation').map((one) => [one.name, one] as const))(
    '%s serves its documented example with things of one’s own',
    async (_name, operation) => {
      await restore();
      if (endingTimer.has(operation.name)) await admin.post('/api/tasklogs/timer/start/', { taskId: own.task });
      const answer = await callOperation(admin, operation, inputOf(operation, own));
      expect(answer).toMatchObject({ status: 200 });
    },
  );
});
