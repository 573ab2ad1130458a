import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { operationsOf } from '../../server/kernel/operations.ts';
import { errorsOf } from '../../server/kernel/declared.ts';
import { appRouter } from '../../server/router.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const operations = operationsOf(appRouter);
const { status, headers, body: document } = await service.anonymous.get('/openapi.json');

/** The interface, line by line. */
const documented = [
  'POST /employee/add/',
  'GET /employee/list/{company_id}/',
  'GET /employee/list/activeUsers/{company_id}/',
  'GET /employee/list/InactiveUsers/{company_id}/',
  'GET /employee/me/{employee_id}/',
  'PATCH /api/employees/{_id}/',
  'PATCH /employee/update-picture/{_id}/',
  'GET /api/performance/{company_id}/',
  'GET /employees/search/{company_id}/',
  'POST /tasklog/create/',
  'POST /tasklogs/bulk/create/{user_id}/',
  'GET /taskLogs/task/{taskId}/',
  'PUT /tasklogs/{taskLogId}/',
  'DELETE /api/tasklogs/delete/{pk}/',
  'POST /login/',
  'POST /api/google-login/',
  'POST /api/apple-login/',
  'POST /verify-email/',
  'POST /otp-login/',
  'POST /token-login/',
  'GET /api/tasks/chat/{task_id}/',
  'POST /api/task-chats/',
  'PATCH /api/edit-task-chats/{comment_id}/',
  'DELETE /api/taskchat/{comment_id}/',
  'POST /api/like-chat/{employee_id}/{comment_id}/',
  'POST /api/dislike-chat/{employee_id}/{comment_id}/',
  'POST /get-register-otp/',
  'POST /api/create-company-and-employee/',
  'POST /reset/link/',
  'POST /reset/verify/',
  'PUT /employee/password/{employee_id}/',
  'GET /company/{company_id}/details/',
  'PUT /company/{company_id}/update/',
  'GET /task-statistics/{company_id}/',
  'GET /notifications/recipient/{recipient_id}/',
  'PATCH /api/notifications/read/{notification_id}/',
  'POST /mark_notifications_as_read/{user_id}/',
  'DELETE /notifications/delete/',
  'DELETE /notifications/{user_id}/clear/',
  'GET /notifications/unread-count/{user_id}/',
];

type Documented = {
  operationId: string;
  summary: string;
  tags: string[];
  security: object[];
  parameters: { name?: string; in?: string; schema?: { type?: string } }[];
  requestBody?: { required: boolean; content: Record<string, { schema: { type?: string }; example?: unknown }> };
  responses: Record<string, { description: string; content: Record<string, { schema: object; examples?: object }> }>;
};
const shown = Object.entries(document.paths as Record<string, Record<string, Documented>>).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one] as const),
);
const lineOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
const byLine = new Map<string, Documented>(shown);

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1, and every reference in it leads somewhere', async () => {
    expect(status).toBe(200);
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('2.0.0');
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toMatchObject({ valid: true });
    const text = JSON.stringify(document);
    const pointers = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer]) => pointer!);
    const lost = pointers.filter(
      (pointer) =>
        pointer.split('/').reduce((at: Record<string, never> | undefined, step) => at?.[step], document) === undefined,
    );
    expect(pointers.length).toBeGreaterThan(100);
    expect(lost).toEqual([]);
  });

  test('can be kept by its ETag', async () => {
    expect(headers.get('cache-control')).toBe('no-cache');
    const etag = headers.get('etag')!;
    const again = await fetch(`${service.url}/openapi.json`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    const other = await fetch(`${service.url}/openapi.json`, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
  });

  test('holds exactly the operations of the router', () => {
    expect([...byLine.keys()].toSorted()).toEqual(operations.map(lineOf).toSorted());
    expect(shown.map(([, one]) => one.operationId).toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
  });

  test('holds the documented lines letter for letter', () => {
    expect(new Set(documented).size).toBe(40);
    const missing = documented.filter((line) => !byLine.has(line));
    expect(missing).toEqual([]);
  });

  test('marks exactly what the interface lacks as an addition', () => {
    for (const operation of operations) {
      // Refreshing and ending a session are named in the interface, without a path.
      if (['auth.refresh', 'auth.logout'].includes(operation.name)) continue;
      expect([lineOf(operation), operation.meta.section === 'Additions']).toEqual([
        lineOf(operation),
        !documented.includes(lineOf(operation)),
      ]);
    }
  });

  test('describes each tag that it uses', () => {
    const used = new Set(shown.flatMap(([, { tags }]) => tags));
    const described = new Set((document.tags as { name: string; description: string }[]).map(({ name }) => name));
    expect(described).toEqual(used);
  });
});

describe.each(operations.map((operation) => [lineOf(operation), operation] as const))('%s', (line, operation) => {
  const one = byLine.get(line)!;
  const { meta, type, method, input, pathParameters } = operation;

  test('has a summary, a section and typed parameters', () => {
    expect(one.summary.length).toBeGreaterThan(5);
    expect(one.tags).toEqual([meta.section]);
    const inPath = one.parameters.filter((parameter) => parameter.in === 'path');
    expect(new Set(inPath.map(({ name }) => name))).toEqual(new Set(pathParameters));
    for (const { schema } of inPath) expect(schema).toMatchObject({ type: 'integer', minimum: 1 });
  });

  test('takes its fields where a request has them, with an example that is valid', () => {
    const fields = Object.keys(input?.shape ?? {}).filter((field) => !pathParameters.includes(field));
    const inQuery = one.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    expect(new Set(inQuery)).toEqual(new Set(method === 'GET' ? fields : []));

    const takesBody = method !== 'GET' && fields.length > 0;
    const { schema, example } = one.requestBody?.content['application/json'] ?? {};
    expect([schema?.type, example !== undefined]).toEqual(
      takesBody ? [meta.bodyField === undefined ? 'object' : 'array', true] : [undefined, false],
    );
    const whole = { ...Object.fromEntries(pathParameters.map((name) => [name, 1])), ...meta.example };
    expect(meta.example && input!.safeParse(whole).error).toBeUndefined();
  });

  test('answers 200 or a declared refusal, and says which codes', () => {
    const definitions = errorsOf(meta);
    const statuses = new Set(['200', ...definitions.map((definition) => String(definition.status))]);
    expect(new Set(Object.keys(one.responses))).toEqual(statuses);
    expect(one.responses['200']!.content['application/json']!.schema).toBeDefined();
    for (const definition of definitions) {
      const { $ref } = one.responses[definition.status] as unknown as { $ref: string };
      const response = document.components.responses[$ref.split('/').at(-1)!];
      expect(response.description).toContain(`\`${definition.code}\``);
      const { schema, examples } = response.content['application/problem+json']!;
      expect(schema).toEqual({ $ref: '#/components/schemas/Problem' });
      expect(examples).toHaveProperty(definition.code);
    }
  });

  test('asks for the token pair or a key with its scopes, unless it is open or says which bodyCredentials it takes', () => {
    if (meta.bodyCredentials) return;
    const pair = { AccessToken: [], RefreshToken: [] };
    const kind = type === 'mutation' ? 'write' : 'read';
    const ofArea = (area: string) => [`${area}:${kind}`, ...(meta.access === 'admin' ? ['admin'] : [])];
    const { access, keys = 'no key' } = meta;
    const areas = [keys].flat().flatMap((area) => ofArea(area));
    const byKeys = {
      'no key': access === 'open' ? [] : [pair],
      'any key': [{ ApiKey: [] }],
      everything: [pair, { ApiKey: [kind] }],
      areas: [pair, { ApiKey: [...new Set(areas)].toSorted() }, { ApiKey: [kind] }],
    };
    const known = Object.keys(byKeys).find((one) => one === keys) ?? 'areas';
    const sorted = (one.security as Record<string, string[]>[]).map(({ ApiKey, ...others }) =>
      ApiKey ? { ApiKey: ApiKey.toSorted() } : others,
    );
    expect(sorted).toEqual(byKeys[known as keyof typeof byKeys]);
  });
});
