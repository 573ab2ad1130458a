import { describe, expect, test } from 'vitest';
import { operationsOf } from '../../server/kernel/operations.ts';
import { appRouter } from '../../server/router.ts';
import { errorOf, headersOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { anonymous } = service;
const admin = await service.registerCompany();
const operations = operationsOf(appRouter);
const pathOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '1');
const json = { headers: { 'content-type': 'application/json' } };
const problemFields = ['type', 'title', 'status', 'detail', 'code', 'requestId'];

describe('every path', () => {
  const methodsByPath = Map.groupBy(operations, ({ path }) => pathOf(path));

  test.each([...methodsByPath.keys()])(
    '%s refuses other methods with 405 and Allow, whatever their body',
    async (path) => {
      const served: string[] = methodsByPath.get(path)!.map(({ method }) => method);
      const allow = [...served, ...(served.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].toSorted().join(', ');
      for (const url of [path, path.slice(0, -1)]) {
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
          if (served.includes(method)) continue;
          const bad = method === 'GET' ? {} : { body: '{"', headers: { 'content-type': 'text/plain' } };
          const answer = await anonymous.send(method, url, bad.body, { headers: bad.headers ?? {} });
          expect({ method, url, ...errorOf(answer) }).toEqual({ method, url, status: 405, code: 'METHOD_NOT_ALLOWED' });
          expect(answer.headers.get('allow')).toBe(allow);
        }
        for (const body of [undefined, '{"']) {
          const options = await anonymous.send('OPTIONS', url, body);
          expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
        }
      }
    },
  );

  test.each(operations.map(({ method, path }) => [method, path] as const))(
    '%s %s is served without its last slash as well, with no redirect, and in no other letter case',
    async (method, path) => {
      const body = method === 'GET' ? undefined : {};
      const exact = await anonymous.send(method, pathOf(path), body);
      const slashless = await anonymous.send(method, pathOf(path).slice(0, -1), body);
      expect(errorOf(slashless)).toEqual(errorOf(exact));
      expect(exact.status).not.toBe(404);
      const swapped = pathOf(path).replaceAll(/[a-z]/gi, (letter) =>
        letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
      );
      expect(errorOf(await anonymous.send(method, swapped, body))).toEqual({ status: 404, code: 'ROUTE_NOT_FOUND' });
    },
  );
});

describe.each(
  operations.filter(({ method }) => method !== 'GET').map(({ method, path }) => [method, pathOf(path)] as const),
)('the body of %s %s', (method, path) => {
  test.each(['{', '{"a":1', "{'a':1}", 'undefined', '{"a":1}x'])(
    'is refused as malformed where it is %s',
    async (text) => {
      expect(errorOf(await admin.send(method, path, text, json))).toEqual({ status: 400, code: 'MALFORMED_JSON' });
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'])(
    'is refused as %s',
    async (type) => {
      const answer = await admin.send(method, path, 'a=1', { headers: { 'content-type': type } });
      expect(errorOf(answer)).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    },
  );
});

const bodiless = operations.filter(
  ({ method, input, pathParameters }) =>
    method !== 'GET' && Object.keys(input?.shape ?? {}).every((field) => pathParameters.includes(field)),
);

const nothing = String(Number.MAX_SAFE_INTEGER);
test.each(bodiless.map(({ method, path }) => [method, path.replaceAll(/\{\w+\}/g, nothing)] as const))(
  '%s %s takes no body, an empty one, {} and null alike',
  async (method, path) => {
    const answerTo = async (body?: string) => {
      // It may end its session.
      const caller = await service.signIn(admin.email);
      const { status, body: answer } = await caller.send(method, path, body, json);
      return { status, code: answer.code };
    };
    const expected = await answerTo();
    expect([400, 401, 415]).not.toContain(expected.status);
    for (const body of ['', ' ', '{}', 'null'])
      expect({ body, ...(await answerTo(body)) }).toEqual({ body, ...expected });
  },
);

test('logs out with an empty JSON body', async () => {
  const someone = await service.signIn(admin.email);
  expect(await someone.post('/logout/', '', json)).toMatchObject({ status: 200, body: { success: true } });
});

describe('a refusal', () => {
  test.each(['/nope', '/nope/', '//login/', '/login//', '/employee//list/1/', '/employee/me//', '/docs/nope'])(
    'of the unknown path %s is a problem document, before any body is read',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const body = method === 'GET' ? undefined : '{';
        const answer = await admin.send(method, path, body, { headers: { 'content-type': 'text/plain' } });
        expect({ method, ...errorOf(answer) }).toEqual({ method, status: 404, code: 'ROUTE_NOT_FOUND' });
        expect(answer.body.detail).toContain(`${method} ${path}`);
        expect(Object.keys(answer.body)).toEqual(problemFields);
      }
    },
  );

  test('names its page, its code and each field, and nothing of the inside', async () => {
    const { status, body, headers } = await admin.post('/employee/add/', { email: 7 });
    expect(status).toBe(400);
    expect(Object.keys(body)).toEqual([...problemFields, 'issues']);
    expect(body).toMatchObject({ type: '/docs/errors/VALIDATION_FAILED', status: 400, code: 'VALIDATION_FAILED' });
    expect(body.requestId).toBe(headers.get('x-request-id'));
    for (const issue of body.issues) expect(Object.keys(issue)).toEqual(['path', 'message', 'code']);
    expect((await anonymous.get(body.type)).status).toBe(200);
  });
});

describe('an identifier in a path', () => {
  test.each([
    '0x10',
    '1e2',
    '%201',
    '1%20',
    '+1',
    '01',
    '1.0',
    '-1',
    '0',
    'NaN',
    '%D9%A1',
    '9007199254740993',
    '1'.repeat(200),
  ])('is refused as %s', async (spelling) => {
    expect(errorOf(await admin.get(`/employee/me/${spelling}/`))).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['employee_id'],
    });
  });

  test('is found percent-encoded too', async () => {
    const encoded = String(admin.employeeId).replaceAll(/\d/g, '%3$&');
    expect(await admin.get(`/employee/me/${encoded}/`)).toMatchObject({ status: 200, body: { _id: admin.employeeId } });
  });

  test.each(['%', '%zz', '%c3%28', '%E0%A4%A'])('is refused where its encoding is broken: %s', async (spelling) => {
    const { status, code } = errorOf(await admin.get(`/employee/me/${spelling}/`));
    expect([400, code]).toEqual([status, 'MALFORMED_REQUEST']);
  });
});

describe('a query parameter', () => {
  const list = `/api/projects/company/${admin.companyId}/`;

  test.each(['0', '-1', '1e2', '0x1', '1.5', '+1', '9007199254740993'])('is refused as page=%s', async (page) => {
    const { issues, ...refused } = errorOf(await admin.get(`${list}?page=${encodeURIComponent(page)}`));
    expect(refused).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
    expect(new Set(issues)).toEqual(new Set(['page']));
  });

  test('is refused twice', async () => {
    const answer = await admin.get(`${list}?page=1&page=1`);
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['page'] });
  });

  test('that no operation knows is ignored, whatever its name', async () => {
    expect((await admin.get(`${list}?__proto__=1&constructor=2&company_id=99&utm=1`)).status).toBe(200);
  });
});

describe('a body', () => {
  const employee = (email: string) => ({
    first_name: 'Zoë',
    last_name: '漢字 🚀',
    email,
    companyId: admin.companyId,
  });

  test('may hold fields that the operation does not list, to no effect', async () => {
    const { status, body } = await admin.post('/employee/add/', {
      ...employee('extra@example.com'),
      _id: 1,
      isAdmin: true,
      isDeleted: true,
      isActive: false,
      createdAt: '2001-01-01T00:00:00Z',
      constructor: { prototype: { polluted: true } },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'Zoë 漢字 🚀', isAdmin: false, isDeleted: false, isActive: true });
    expect(body._id).not.toBe(1);
    expect(Date.parse(body.createdAt)).toBeGreaterThan(Date.parse('2020-01-01'));
  });

  test('cannot reach a prototype', async () => {
    const fields = JSON.stringify(employee('proto@example.com')).slice(1, -1);
    const { status, body } = await admin.post(
      '/employee/add/',
      `{"__proto__":{"isAdmin":true,"polluted":true},"constructor":{"prototype":{"polluted":true}},${fields}}`,
      json,
    );
    expect([status, body.isAdmin]).toEqual([200, false]);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  test.each(['[]', '"text"', '7', 'true'])('that is %s and no object is refused', async (text) => {
    expect(errorOf(await admin.post('/employee/add/', text, json))).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: [''],
    });
  });

  test.each(['"1"', '1.5', '0', '-1', '9007199254740993', '1e400', 'true', 'null', '[1]'])(
    'is refused with the identifier %s',
    async (id) => {
      const answer = await admin.post('/api/tasks/', `{"title":"A","projectId":${id}}`, json);
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['projectId'] });
    },
  );

  test('is refused over 1 MiB, with its length declared or not, and taken up to it', async () => {
    const envelope = JSON.stringify({ ...employee('large@example.com'), filler: '' }).length;
    const filler = (bytes: number) => 'x'.repeat(bytes - envelope);
    const large = { ...employee('large@example.com'), filler: filler(1024 * 1024 + 1) };
    expect(errorOf(await admin.post('/employee/add/', large))).toEqual({ status: 413, code: 'BODY_TOO_LARGE' });
    const chunked = await fetch(`${service.url}/employee/add/`, {
      method: 'POST',
      headers: {
        ...json.headers,
        ...headersOf(admin.pair),
      },
      body: new Blob([JSON.stringify(large)]).stream(),
      duplex: 'half',
    });
    expect(chunked.status).toBe(413);
    expect(chunked.headers.get('content-type')).toMatch('application/problem+json');
    // Letters beyond ASCII take more bytes than characters.
    const spare = Buffer.byteLength(JSON.stringify(employee(''))) - JSON.stringify(employee('')).length;
    const whole = { ...employee('large@example.com'), filler: filler(1024 * 1024 - spare) };
    expect((await admin.post('/employee/add/', whole)).status).toBe(200);
  });
});
