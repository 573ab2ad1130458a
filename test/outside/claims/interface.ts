import { describe, expect, test } from 'vitest';
import { got, said } from '../caller.ts';
import { queries, rows, type Row } from '../rows.ts';
import { service } from '../running.ts';

/*
 * The interface, row by row: that each operation is served at its path, and listed as it is documented. What each of them
 * does is in the files beside, by kind of thing.
 */

const { anonymous } = service;
const admin = await service.register();

type Schema = {
  $ref?: string;
  type?: string | string[];
  properties: Record<string, Schema>;
  required?: string[];
  items: Schema;
  enum?: unknown[];
  format?: string;
  maximum?: number;
  anyOf?: Schema[];
  schema?: Schema;
};
type Operation = {
  parameters?: { name?: string; in?: string; required?: boolean; schema?: Schema; $ref?: string }[];
  requestBody?: { $ref?: string; content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
  security?: object[];
  tags: string[];
};

const document = got(await anonymous.get('/openapi.json'));
const resolve = <Value extends { $ref?: string }>(value: Value): Value =>
  value.$ref === undefined
    ? value
    : value.$ref
        .slice(2)
        .split('/')
        .reduce((at, step) => at[step], document);
const operationOf = ({ method, path }: Row): Operation => document.paths[path]?.[method.toLowerCase()];

/** The path with an identifier that names nothing. */
const asked = (path: string): string => path.replaceAll(/\{\w+\}/g, '987654321');

const all: (readonly [name: string, row: Row])[] = rows.map((row) => [`${row.method} ${row.path}`, row]);
const documentedMethods = (path: string): string[] =>
  Object.keys(document.paths[path]).map((method) => method.toUpperCase());

test('the 41 rows are 40 distinct operations', () => {
  expect(new Set(all.map(([name]) => name)).size).toBe(40);
});

test('the interface is labelled version 2.0.0, and is an OpenAPI document', () => {
  expect(document.info.version).toBe('2.0.0');
  expect(document.openapi).toMatch(/^3\.1\./);
});

test('no path carries a version segment', () => {
  for (const path of Object.keys(document.paths)) expect(path).not.toMatch(/\/v\d/);
});

test('the document lists the documented operations and those of the additions, and no others', () => {
  const documented = new Set(all.map(([name]) => name));
  for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, Operation>>))
    for (const [method, { tags }] of Object.entries(item)) {
      const name = `${method.toUpperCase()} ${path}`;
      expect({ name, isAddition: tags.includes('Additions') }).toEqual({
        name,
        isAddition: !documented.has(name),
      });
    }
});

describe.each(all)('%s', (_name, row) => {
  const { method, path } = row;

  test('is listed under exactly this path and method, with its slash', () => {
    expect(operationOf(row)).toBeDefined();
    expect(document.paths[path.slice(0, -1)]).toBeUndefined();
  });

  test('names its parameters as the interface does', () => {
    const parameters = (operationOf(row).parameters ?? []).map(resolve);
    const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
    expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    const inQuery = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
    // The contract adds the right spelling of `priorty`.
    expect(inQuery.filter((name) => name !== 'priority')).toEqual(queries[path] ?? []);
  });

  test('takes the body fields of the interface, by their names', () => {
    const { requestBody } = operationOf(row);
    const body = requestBody && resolve(resolve(requestBody).content['application/json']!.schema);
    const fields = body && (path.includes('/bulk/') ? resolve(body.items) : body).properties;
    expect(Object.keys(fields ?? {})).toEqual(expect.arrayContaining(row.body));
    // The contract adds what an admin says to override locked days; the body stays optional.
    const added = path === '/api/tasklogs/delete/{pk}/' ? ['override', 'reason'] : [];
    expect(fields === undefined).toBe([...row.body, ...added].length === 0);
  });

  test('lists 200 as its only success', () => {
    const { responses } = operationOf(row);
    expect(Object.keys(responses).filter((status) => status < '400')).toEqual(['200']);
  });

  test('is served with and without the last slash, without a redirect', async () => {
    const [whole, cut] = [asked(path), asked(path).slice(0, -1)];
    const answers = await Promise.all([whole, cut].map((one) => admin.send(method, one)));
    for (const answer of answers) {
      expect(said(answer)).not.toMatch(/ROUTE_NOT_FOUND|^405|^3|^5/);
      expect(said(answer)).toBe(said(answers[0]!));
    }
  });

  test('is not served in another letter case', async () => {
    const other = asked(path).replace(/[a-z]/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    expect(said(await admin.send(method, other))).toBe('404 ROUTE_NOT_FOUND');
  });

  test('answers 405 with Allow to a method that it does not take', async () => {
    const methods = documentedMethods(path);
    const wrong = ['PUT', 'GET', 'DELETE'].find((one) => !methods.includes(one))!;
    const answer = await admin.send(wrong, asked(path));
    expect(said(answer)).toBe('405 METHOD_NOT_ALLOWED');
    expect((answer.headers.get('allow') ?? '').split(', ')).toEqual(expect.arrayContaining(methods));
  });
});

test.each(all.filter(([, { isOpen }]) => isOpen))('%s is open without a token', async (_name, row) => {
  expect(said(await anonymous.send(row.method, asked(row.path), {}))).toMatch(/^400 VALIDATION_FAILED/);
  expect(operationOf(row).security).toEqual([]);
});

test.each(all.filter(([, { isOpen }]) => !isOpen))('%s asks for a proof', async (_name, row) => {
  const { method, path } = row;
  const input = { email: admin.email, company_id: admin.companyId };
  const expected = path === '/token-login/' ? '401 PROOF_REQUIRED' : '401 UNAUTHENTICATED';
  expect(said(await anonymous.send(method, asked(path), method === 'GET' ? undefined : input))).toBe(expected);
  expect(operationOf(row).security?.length).toBeGreaterThan(0);
});

test('the notification list takes the documented values, and lists them', () => {
  const operation = document.paths['/notifications/recipient/{recipient_id}/'].get as Operation;
  const inQuery = operation.parameters!.map(resolve).filter((one) => one.in === 'query');
  const values = Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema?.enum]));
  for (const name of ['isArchive', 'later', 'read', 'starred', 'isMention'])
    expect(values[name]).toEqual([true, false]);
  for (const { name, required = false } of inQuery) expect([name, required]).toEqual([name, false]);
  expect(values['app_type']).toEqual(['hr', 'task']);
  expect(values['category']).toEqual(['task', 'project', 'need_attention', 'message', 'notice']);
  expect(values['priorty']).toEqual(['primary', 'updates', 'others', 'activity']);
});

test('identifiers and counts carry a maximum in the document, and int64 stands nowhere', () => {
  const text = JSON.stringify(document);
  expect(text).not.toContain('int64');
  const integers: Schema[] = [];
  JSON.parse(text, (_key, value: Schema | null) => {
    if (typeof value === 'object' && value?.type === 'integer') integers.push(value);
    return value;
  });
  expect(integers.length).toBeGreaterThan(100);
  for (const schema of integers)
    expect([schema, (schema.maximum ?? Infinity) <= 9_007_199_254_740_991]).toEqual([schema, true]);
});
