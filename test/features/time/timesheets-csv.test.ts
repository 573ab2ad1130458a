import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { csvLine } from '../../../server/kernel/wire/csv.ts';
import { addCrowd } from '../../support/crowd.ts';
import { createDownload } from '../../support/download.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

const service = await startService();
const download = createDownload(service);
const admin = await service.registerCompany({ firstName: 'Ada' });
const { projectId, taskId } = await startWork(admin, { name: 'Müller & Söhne, "Nord"' });
const range = 'from=2026-03-01&to=2026-03-31';
const pathOf = (query: string) => `/api/timesheets/${admin.companyId}/?${range}&format=csv&${query}`;

/** As RFC 4180 has it: every line ends with CRLF, quotes are doubled inside quotes. */
function parseCsv(text: string): string[][] {
  expect(text.endsWith('\r\n')).toBe(true);
  const lines: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end === '\r\n') lines.push([]);
  }
  return lines.slice(0, -1);
}

const rename = (from: string, to: string) =>
  sql`alter function ${sql.ref(from)}(date, text) rename to ${sql.ref(to)}`.execute(service.database.db);
/** Timesheets cannot be made from then on. */
const breakDays = () => rename('local_day_start', 'local_day_start_away');
const mendDays = () => rename('local_day_start_away', 'local_day_start');

async function insertLogs(companyId: number, employeeId: number, task: number, start: string): Promise<void> {
  await sql`
    insert into task_logs (company_id, project_id, task_id, employee_id, start_time, end_time, manual_add, created_at, updated_at)
    select company_id, project_id, task_id, ${employeeId}, ${start}::timestamptz, ${start}::timestamptz + interval '1 hour',
      true, now(), now()
    from tasks where company_id = ${companyId} and task_id = ${task}`.execute(service.database.db);
}

await admin.post('/tasklog/create/', {
  task_id: taskId,
  employee_id: admin.employeeId,
  start_time: '2026-03-02T09:00:00Z',
  end_time: '2026-03-02T10:30:00Z',
});

describe('a timesheet as CSV', () => {
  test('is a file of UTF-8 with a byte order mark, with the rows of the JSON and their total', async () => {
    const { status, headers, bytes, isComplete } = await download(admin, pathOf('groupBy=project'));
    expect([status, isComplete]).toEqual([200, true]);
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="timesheet_2026-03-01_2026-03-31_by_project.csv"',
      'cache-control': 'no-store',
    });
    expect(bytes.toString()).toBe(
      `\uFEFFprojectId,project,seconds,hours\r\n${projectId},"Müller & Söhne, ""Nord""",5400,1.5\r\nTotal,,5400,1.5\r\n`,
    );
  });

  test.each(['day', 'week', 'project', 'task', 'employee'])('has by %s what the JSON has', async (groupBy) => {
    const { body } = await admin.get(`/api/timesheets/${admin.companyId}/?${range}&groupBy=${groupBy}`);
    const { bytes } = await download(admin, pathOf(`groupBy=${groupBy}`));
    const [columns, ...lines] = parseCsv(bytes.toString().slice(1));
    expect(columns).toEqual(Object.keys(body.rows[0]));
    const rows = body.rows.map((row: object) =>
      Object.values(row).map((value: string | number | null) => String(value ?? '')),
    );
    const total = columns!.map((column, index) =>
      index === 0 ? 'Total' : column === 'seconds' ? String(body.totalSeconds) : column === 'hours' ? '1.5' : '',
    );
    expect(lines).toEqual([...rows, total]);
  });

  test('has columns and a total where there is no time', async () => {
    const { body } = await admin.get(`/api/timesheets/${admin.companyId}/?from=2020-01-01&to=2020-01-01&format=csv`);
    expect(parseCsv(String(body).replace('\uFEFF', ''))).toEqual([
      ['userId', 'name', 'date', 'seconds', 'hours'],
      ['Total', '', '', '0', '0'],
    ]);
  });

  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['＝1', "'＝1"],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['a=1', 'a=1'],
    ['two\nlines', '"two\nlines"'],
    ['', ''],
  ])('gives a spreadsheet no formula: %j', (text, cell) => {
    expect(csvLine([text, -1, null])).toBe(`${cell},-1,\r\n`);
  });

  test('gives none in what people wrote', async () => {
    const task = await addTask(admin, projectId);
    await admin.patch(`/api/tasks/${task}/`, { title: `=cmd|' /C calc'!A0` });
    await insertLogs(admin.companyId, admin.employeeId, task, '2026-03-05T09:00:00Z');
    const { bytes } = await download(admin, pathOf('groupBy=task'));
    expect(parseCsv(bytes.toString().slice(1))[2]![1]).toBe(`'=cmd|' /C calc'!A0`);
  });

  test('is documented as one of two answers', async () => {
    const { body } = await service.anonymous.get('/openapi.json');
    const { content } = body.paths['/api/timesheets/{company_id}/'].get.responses['200'];
    expect(content).toMatchObject({
      'application/json': { schema: { $ref: '#/components/schemas/Timesheet' } },
      'text/csv': { schema: { type: 'string' } },
    });
  });
});

describe('a long timesheet', () => {
  test('comes whole and in order, over many batches', async () => {
    const people = 173;
    const boss = await service.registerCompany();
    const work = await startWork(boss);
    const { db } = service.database;
    await addCrowd(db, { companyId: boss.companyId, ...work, people, firstDay: '2026-03-01', days: 31 });
    const path = `/api/timesheets/${boss.companyId}/?${range}`;
    const { bytes, isComplete } = await download(boss, `${path}&format=csv`);
    const [, ...lines] = parseCsv(bytes.toString().slice(1));
    const { body } = await boss.get(path);
    expect([isComplete, lines.length, body.rows.length]).toEqual([true, people * 31 + 1, people * 31]);
    expect(lines.at(-1)).toEqual(['Total', '', '', String(people * 31 * 5400), String(people * 31 * 1.5)]);
    expect(body.rows.map((row: object) => Object.values(row).map(String))).toEqual(lines.slice(0, -1));
    const names = body.rows.map(({ name }: { name: string }) => name);
    expect(names).toEqual(names.toSorted((a: string, b: string) => a.localeCompare(b, 'en')));
  });

  test('is cut off where it cannot go on, and never looks whole', async () => {
    const boss = await service.registerCompany();
    const work = await startWork(boss);
    const { db } = service.database;
    // Far more bytes than lie between the two sides.
    await sql`update projects set name = repeat('x', 4000) where company_id = ${boss.companyId}`.execute(db);
    await sql`
      with made as (
        insert into tasks (company_id, project_id, title, owner_id, created_at, updated_at)
        select ${boss.companyId}, ${work.projectId}, 'Task', ${boss.employeeId}, now(), now()
        from generate_series(1, 5000) returning company_id, task_id, project_id, owner_id
      )
      insert into task_logs (company_id, project_id, task_id, employee_id, start_time, end_time, manual_add, created_at, updated_at)
      select company_id, project_id, task_id, owner_id, '2026-03-02T10:00:00Z', '2026-03-02T11:00:00Z', true, now(), now()
      from made`.execute(db);
    const path = `/api/timesheets/${boss.companyId}/?${range}&groupBy=task&format=csv`;
    const { bytes, isComplete } = await download(boss, path, breakDays);
    await mendDays();
    expect(isComplete).toBe(false);
    const text = bytes.toString();
    expect(text.startsWith('\uFEFFtaskId,')).toBe(true);
    expect(text).not.toContain('Total');
    expect(service.log()).toContain('an answer broke off');
    expect((await download(boss, path)).isComplete).toBe(true);
  });

  test('is refused like anything else where it cannot begin', async () => {
    await breakDays();
    const { status, headers, bytes } = await download(admin, pathOf('groupBy=employee'));
    await mendDays();
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      500,
      'application/problem+json; charset=utf-8',
      undefined,
    ]);
    expect(JSON.parse(bytes.toString()).code).toBe('INTERNAL_ERROR');
  });
});
