import { createTRPCClient, httpBatchLink, httpLink, TRPCClientError } from '@trpc/client';
import { describe, expect, test } from 'vitest';
import type { AppRouter } from '../../server/router.ts';
import { type Answer, headersOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { anonymous, url } = service;
const admin = await service.registerCompany();
const requestId = 'the-same-request';
const options = { headers: { 'x-request-id': requestId } };

/** The stock client, whose requests may be spoiled on their way. */
function clientOf(
  link: typeof httpLink | typeof httpBatchLink,
  spoil: (init: RequestInit) => RequestInit = (init) => init,
) {
  return createTRPCClient<AppRouter>({
    links: [
      link({
        url: `${url}/trpc`,
        headers: {
          ...headersOf(admin.pair),
          'x-request-id': requestId,
        },
        fetch: (input, init) => fetch(input as string, spoil(init as RequestInit)),
      }),
    ],
  });
}

async function errorOfCall(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof TRPCClientError)) throw new Error('the call was not refused');
  return {
    message: error.message,
    ...(error.data as { code: string; httpStatus: number; requestId: string; issues?: object }),
  };
}

const saidByRest = ({ status, body }: Answer) => ({
  message: body.detail,
  code: body.code,
  httpStatus: status,
  requestId: body.requestId,
  ...(body.issues === undefined ? {} : { issues: body.issues }),
});

describe.each([
  ['httpLink', httpLink],
  ['httpBatchLink', httpBatchLink],
] as const)('a refusal over %s', (_name, link) => {
  const client = clientOf(link);

  test('of invalid input has the code, requestId and issues of the problem document', async () => {
    const rest = saidByRest(await admin.post('/employee/add/', { email: 'x' }, options));
    expect(rest.issues).not.toHaveLength(0);
    expect(await errorOfCall(client.employees.create.mutate({ email: 'x' } as never))).toEqual({
      ...rest,
      path: 'employees.create',
    });
  });

  test('of what is not there, and of what is another’s, has them too', async () => {
    const rest = saidByRest(await admin.get('/employee/me/999999/', options));
    expect(await errorOfCall(client.employees.get.query({ employee_id: 999_999 }))).toEqual({
      ...rest,
      path: 'employees.get',
    });
  });

  test('of an unknown operation has a code', async () => {
    const unknown = client as unknown as { nope: { none: { query(): Promise<unknown> } } };
    expect(await errorOfCall(unknown.nope.none.query())).toMatchObject({
      code: 'ROUTE_NOT_FOUND',
      httpStatus: 404,
      requestId,
    });
  });

  test.each([
    ['a wrong media type', 415, 'UNSUPPORTED_MEDIA_TYPE', { headers: { 'content-type': 'text/plain' } }],
    ['a form', 415, 'UNSUPPORTED_MEDIA_TYPE', { headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
    ['a body that is too large', 413, 'BODY_TOO_LARGE', { body: JSON.stringify('x'.repeat(1024 * 1024)) }],
    ['a body beyond all operations', 413, 'BODY_TOO_LARGE', { body: JSON.stringify('x'.repeat(5 * 1024 * 1024)) }],
    ['malformed JSON', 400, 'MALFORMED_JSON', { body: '{' }],
  ])('of %s comes in tRPC’s shape', async (_what, httpStatus, code, spoiled) => {
    const spoiling = clientOf(link, (init) => ({
      ...init,
      ...spoiled,
      headers: { ...(init.headers as object), ...('headers' in spoiled ? spoiled.headers : {}) },
    }));
    const refused = await errorOfCall(spoiling.employees.create.mutate({ first_name: 'Eve' } as never));
    expect(refused).toMatchObject({ code, httpStatus, requestId });
  });
});

describe('tRPC over HTTP', () => {
  const send = async (method: string, path: string, body?: string) => {
    const answer = await anonymous.send(method, path, body, {
      headers: { 'content-type': 'application/json', 'x-request-id': requestId },
    });
    const [first] = [answer.body].flat() as { error: { data: { code: string; requestId: string } } }[];
    return { status: answer.status, ...first!.error.data, allow: answer.headers.get('allow') };
  };

  test.each([
    ['no operation', 'GET', '/trpc', 404, 'ROUTE_NOT_FOUND'],
    ['no operation behind a slash', 'GET', '/trpc/', 404, 'ROUTE_NOT_FOUND'],
    ['a broken encoding', 'GET', '/trpc/%', 400, 'MALFORMED_REQUEST'],
    ['too deep a path', 'GET', '/trpc/a/b', 404, 'ROUTE_NOT_FOUND'],
    ['a query by a wrong method', 'PUT', '/trpc/sessions.list', 405, 'METHOD_NOT_ALLOWED'],
    [
      'a batch that is too long',
      'GET',
      `/trpc/${Array(51).fill('sessions.list').join(',')}?batch=1`,
      400,
      'MALFORMED_REQUEST',
    ],
    ['a batch of reads and writes', 'GET', '/trpc/sessions.list,auth.logout?batch=1', 400, 'MALFORMED_REQUEST'],
    ['input that is no JSON', 'GET', '/trpc/employees.get?input=%7B', 401, 'UNAUTHENTICATED'],
  ])('names the error and the request for %s', async (_what, method, path, status, code) => {
    const body = method === 'GET' ? undefined : '{}';
    expect(await send(method, path, body)).toMatchObject({ status, code, requestId });
  });

  test.each([
    ['a query', 'GET', '/trpc/sessions.list'],
    ['a batch of queries', 'GET', '/trpc/sessions.list,sessions.list?batch=1'],
    ['a query that cannot be read', 'GET', '/trpc/sessions.list?input=%7B'],
    ['a mutation', 'POST', '/trpc/auth.logout'],
    ['a subscription', 'GET', '/trpc/notifications.onMine'],
  ])('challenges who sends no credentials with %s', async (_what, method, path) => {
    const { status, headers } = await anonymous.send(method, path, undefined, options);
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  test('says which method an operation takes', async () => {
    expect(await send('GET', '/trpc/auth.login')).toMatchObject({ status: 405, allow: 'POST' });
    expect(await send('POST', '/trpc/sessions.list', '{}')).toMatchObject({ status: 405, allow: 'GET' });
  });

  test.each(['PUT', 'QUERY', 'DELETE'])('refuses %s before it looks at the body or at who calls', async (method) => {
    for (const type of ['application/json', 'text/plain', 'multipart/form-data']) {
      const { status, headers, body } = await anonymous.send(method, '/trpc/auth.login', '{', {
        headers: { 'content-type': type },
      });
      expect({ type, status, allow: headers.get('allow'), code: body.error.data.code }).toEqual({
        type,
        status: 405,
        allow: 'GET, HEAD, OPTIONS, POST',
        code: 'METHOD_NOT_ALLOWED',
      });
    }
  });

  test('answers a batch of as many calls as it takes', async () => {
    const batched = clientOf(httpBatchLink);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => batched.company.get.query({ company_id: admin.companyId })),
    );
    expect(new Set(answers.map(({ company }) => company.company_id))).toEqual(new Set([admin.companyId]));
  });

  test('refuses input that is no JSON as REST refuses a body', async () => {
    const answer = await admin.get('/trpc/employees.get?input=%7B');
    expect([answer.status, answer.body.error.data.code]).toEqual([400, 'MALFORMED_JSON']);
  });

  test('takes a picture as large as REST does, and nothing else of that size', async () => {
    const large = JSON.stringify({ _id: admin.employeeId, profilePicture: 'A'.repeat(2 * 1024 * 1024) });
    const json = { headers: { 'content-type': 'application/json' } };
    const picture = await admin.post('/trpc/employees.updatePicture', large, json);
    expect(picture.body.error.data.code).not.toBe('BODY_TOO_LARGE');
    const other = await admin.post('/trpc/employees.create', large, json);
    expect(other.body.error.data.code).toBe('BODY_TOO_LARGE');
  });
});
