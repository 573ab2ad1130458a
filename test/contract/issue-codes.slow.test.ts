import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operationsOf, type Operation } from '../../server/kernel/operations.ts';
import { issueCodes, type Issue } from '../../server/errors/issues.ts';
import { appRouter } from '../../server/router.ts';
import type { Answer } from '../support/actor.ts';
import { startService } from '../support/service.ts';

/* Every issue of an invalid input has one of the documented codes, whatever is broken in whichever operation. */
const service = await startService();
// New ones for each operation: some end their caller's session.
let admin = await service.registerCompany();
const met = new Set<string>();

/** What no field takes, or few do. */
const broken: unknown[] = [
  null,
  true,
  -1,
  0.5,
  2 ** 53,
  987_654_321,
  '',
  'x',
  '2026-02-30',
  'a\0b',
  'x'.repeat(70_000),
  [],
  ['x'],
  {},
  [{}],
];

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function send({ method, path, pathParameters, meta }: Operation, input: Record<string, unknown>): Promise<Answer> {
  const ids: Record<string, number> = { company_id: admin.companyId };
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(asText(input[name] ?? ids[name] ?? admin.employeeId)),
  );
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !pathParameters.includes(name)));
  if (method !== 'GET')
    return admin.send(method, url, meta.bodyField === undefined ? rest : JSON.stringify(rest[meta.bodyField]));
  const query = Object.entries(rest).map(([name, value]) => `${name}=${encodeURIComponent(asText(value))}`);
  return admin.send(method, `${url}?${query.join('&')}`);
}

/** What is wrong with an answer, if anything. */
function faultsIn({ status, body }: Answer): unknown[] {
  if (status >= 500) return [{ status, body }];
  if (body?.code !== 'VALIDATION_FAILED') return [];
  const issues = body.issues as Issue[];
  for (const { code } of issues) met.add(code);
  const bad = issues.filter(({ code, message }) => !(code in issueCodes) || message === '');
  return issues.length === 0 || !body.detail.endsWith('.') ? [...bad, body] : bad;
}

/** What ends the caller's own session or removes what others need: their inputs are broken all the same, elsewhere. */
const ends = new Set(['auth.logout', 'notifications.clear']);
const operations = operationsOf(appRouter).filter(({ name, input }) => input && !ends.has(name));

test.each(operations.map((operation) => [operation.name, operation] as const))('%s', async (_, operation) => {
  const { bodyField } = operation.meta;
  const example: Record<string, unknown> = operation.meta.example ?? {};
  admin = await service.signIn(admin.email);
  const wrong: unknown[] = [];
  const check = (answer: Answer) => void wrong.push(...faultsIn(answer));
  if (operation.method !== 'GET') check(await send(operation, {}));
  for (const field of Object.keys(operation.input!.shape)) {
    const { [field]: left, ...others } = example;
    check(await send(operation, others));
    for (const value of broken)
      if (operation.pathParameters.includes(field) ? typeof value !== 'object' && value !== '' : true)
        check(await send(operation, { ...example, [field]: value }));
    if (field !== bodyField || !Array.isArray(left)) continue;
    for (const name of Object.keys(left[0]))
      for (const value of broken)
        check(await send(operation, { ...example, [field]: [left[0], { ...(left[1] as object), [name]: value }] }));
  }
  expect(wrong).toEqual([]);
});

test('times and passwords that are well-formed and wrong have words of their own', async () => {
  admin = await service.signIn(admin.email);
  const wrong: unknown[] = [];
  const check = (answer: Answer) => void wrong.push(...faultsIn(answer));
  const { companyId, employeeId } = admin;
  const day = { from: '2026-03-02', to: '2026-03-01' };
  check(await admin.get(`/api/timesheets/${companyId}/?${new URLSearchParams(day).toString()}`));
  const log = { taskId: 1, userId: 987_654_321, startTime: '2026-03-02T10:00:00Z', endTime: '2026-03-02T09:00:00Z' };
  check(await admin.post(`/tasklogs/bulk/create/${employeeId}/`, [log]));
  const other = await service.addEmployee(admin);
  check(await admin.post(`/tasklogs/bulk/create/${employeeId}/`, [{ ...log, userId: other.employeeId }]));
  expect(wrong).toEqual([]);
});

test('and all documented codes but those of depth, passwords, locked days and files are met', () => {
  const rare = new Set(['too_deep', 'too_weak', 'locked', 'duplicate']);
  const documented = Object.keys(issueCodes).filter((code) => !rare.has(code));
  expect([...met].filter((code) => !rare.has(code)).toSorted()).toEqual(documented.toSorted());
});

test('the codes are an enumeration of the document, and are explained on the page of the error', async () => {
  const document = (await service.anonymous.get('/openapi.json')).body;
  const { code } = document.components.schemas.Problem.properties.issues.items.properties;
  expect(code.enum).toEqual(Object.keys(issueCodes));
  const page = await (await fetch(`${service.url}/docs/errors/VALIDATION_FAILED`)).text();
  for (const one of Object.keys(issueCodes)) expect(page).toContain(`<code>${one}</code>`);
  const tour = readFileSync(new URL('../../docs/rest.md', import.meta.url), 'utf8');
  for (const one of Object.keys(issueCodes)) expect(tour).toContain(`| \`${one}\` |`);
});
