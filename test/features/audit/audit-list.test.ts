import { parse } from 'csv-parse/sync';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

/* The audit log as admins read it: pages, filters, and files. */

const service = await startService();
let admin: Actor;
let member: Actor;
let path: string;
const projectIds: number[] = [];
let halfway: string;

type Entry = Record<string, unknown> & {
  _id: number;
  operation: string;
  at: string;
  subject: { kind: string; id: number } | null;
};

beforeAll(async () => {
  admin = await service.registerCompany();
  member = await service.addEmployee(admin);
  path = `/api/audit/company/${admin.companyId}/`;
  for (let number = 0; number < 120; number += 1) {
    if (number === 60) halfway = (await latest()).at;
    const { body } = await admin.post('/api/projects/', { name: `=Project ${number}` });
    projectIds.push(body._id);
  }
});

const latest = async (): Promise<Entry> => (await admin.get(path)).body.results[0];

/** All pages, each with at most so many rows. */
async function readAll(query = ''): Promise<{ entries: Entry[]; pages: number }> {
  const entries: Entry[] = [];
  let cursor: string | null = '';
  let pages = 0;
  while (cursor !== null) {
    const { status, body } = await admin.get(`${path}?${query}&cursor=${cursor}`);
    expect(status).toBe(200);
    entries.push(...body.results);
    cursor = body.nextCursor;
    pages += 1;
  }
  return { entries, pages };
}

describe('the list', () => {
  test('has every row once, the newest first, in pages of fifty', async () => {
    const { entries, pages } = await readAll();
    const { rows } = await sql<{ id: number }>`
      select audit_id as id from audit_log where company_id = ${admin.companyId} order by xid desc, audit_id desc`.execute(
      service.database.db,
    );
    expect(entries.map((entry) => entry._id)).toEqual(rows.map(({ id }) => id));
    expect(pages).toBe(Math.ceil(rows.length / 50));
  });

  test('goes on where it was, whatever is added meanwhile', async () => {
    const { body: first } = await admin.get(path);
    await admin.post('/api/projects/', { name: 'In between' });
    const { body: second } = await admin.get(`${path}?cursor=${first.nextCursor}`);
    const ids = [...first.results, ...second.results].map((entry: Entry) => entry._id);
    expect(new Set(ids).size).toBe(100);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  });

  test('is filtered by employee, operation, subject and time, and by all of them', async () => {
    const theirs = await readAll(`employee_id=${member.employeeId}`);
    expect(theirs.entries.length).toBeGreaterThan(0);
    expect(new Set(theirs.entries.map((entry) => entry.employee_id))).toEqual(new Set([member.employeeId]));
    const creations = await readAll('operation=projects.create');
    expect(creations.entries.length).toBeGreaterThanOrEqual(120);
    expect(new Set(creations.entries.map(({ operation }) => operation))).toEqual(new Set(['projects.create']));
    const late = await readAll(`operation=projects.create&from=${encodeURIComponent(halfway)}`);
    const early = await readAll(`operation=projects.create&to=${encodeURIComponent(halfway)}`);
    expect(late.entries.length + early.entries.length).toBe(creations.entries.length);
    expect(early.entries.length).toBeGreaterThanOrEqual(59);
    await admin.delete(`/api/projects/${projectIds[7]}/`);
    const { entries } = await readAll(`subject=project:${projectIds[7]}&employee_id=${admin.employeeId}`);
    expect(entries.map(({ operation }) => operation)).toContain('projects.delete');
    expect(new Set(entries.map(({ subject }) => subject!.id))).toEqual(new Set([projectIds[7]]));
    const ofKind = await readAll('subject=session');
    expect(new Set(ofKind.entries.map(({ subject }) => subject!.kind))).toEqual(new Set(['session']));
    expect((await readAll('operation=nothing.atAll')).entries).toEqual([]);
  });

  test.each([
    ['cursor', 'cursor=bm9wZQ'],
    ['subject', 'subject=task:0'],
    ['from', 'from=yesterday'],
    ['employee_id', 'employee_id=987654321'],
  ])('refuses a %s that is none, by its name', async (field, query) => {
    expect(errorOf(await admin.get(`${path}?${query}`))).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: [field],
    });
  });

  test('is for admins of the company', async () => {
    const neighbour = await service.registerCompany();
    for (const end of ['', 'verify/', 'export/?format=csv']) {
      expect(errorOf(await member.get(path + end))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
      expect(errorOf(await neighbour.get(path + end))).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
    await service.app.services.audit.refusals.flush();
    const { body } = await admin.get(`${path}?employee_id=${member.employeeId}&operation=audit.export`);
    expect(body.results).toMatchObject([{ result: 'refused', errorCode: 'ADMIN_REQUIRED', times: 1 }]);
  });
});

describe('a file', () => {
  test('of lines has every row once, and is itself audited', async () => {
    const { entries } = await readAll('operation=projects.create');
    const { status, headers, body } = await admin.get(`${path}export/?format=jsonl&operation=projects.create`);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/jsonl; charset=utf-8']);
    const text = body as string;
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Entry),
    ).toEqual(entries);
    expect(await latest()).toMatchObject({
      operation: 'audit.export',
      employee_id: admin.employeeId,
      changes: [{ event: 'file.exported', after: { format: 'jsonl', operation: 'projects.create' } }],
    });
  });

  test('for spreadsheets has a column for each field, and runs no formula', async () => {
    const { entries } = await readAll('subject=project');
    const { headers, body } = await admin.get(`${path}export/?format=csv&subject=project`);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="audit-${admin.companyId}.csv"`);
    const rows = parse(body, { columns: true, bom: true }) as Record<string, string>[];
    expect(rows.map((row) => Number(row['_id']))).toEqual(entries.map((entry) => entry._id));
    expect(Object.keys(rows[0]!)).toEqual(Object.keys(entries[0]!));
    expect(rows.flatMap((row) => Object.values(row)).filter((cell) => /^[=+@-]/.test(cell))).toEqual([]);
  });

  test('is not there over tRPC, but the list is', async () => {
    const company = { company_id: admin.companyId };
    await expect(member.trpc.audit.list.query(company)).rejects.toThrow('Only an admin');
    await expect(admin.trpc.audit.export.query({ ...company, format: 'csv' })).rejects.toThrow('only the REST path');
    const { results } = await admin.trpc.audit.export.query({ ...company, operation: 'employees.create' });
    expect(results).toHaveLength(1);
  });
});
