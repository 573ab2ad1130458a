import { describe, expect, test } from 'vitest';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import type { Actor } from '../../support/actor.ts';
import { importCsv, readWork, sampleFile, type ImportInput } from '../../support/csv-imports.ts';
import { startService } from '../../support/service.ts';

/* A file of each source, as it is exported, and all that it becomes. */

const service = await startService();
const { database } = service;

async function startCompany(): Promise<{ admin: Actor; grace: Actor }> {
  const admin = await service.registerCompany();
  const grace = await service.addEmployee(admin, {
    first_name: 'Grace',
    last_name: 'Hopper',
    email: 'grace@example.com',
  });
  return { admin, grace };
}

/** Imports a file as a dry run, for real and once more, and checks what does not depend on the file. */
async function importThrice(admin: Actor, name: string, input: ImportInput) {
  const csv = sampleFile(name);
  const before = await readWork(service, admin);
  const dry = await importCsv(admin, csv, { ...input, dry_run: true });
  expect(await readWork(service, admin)).toEqual(before);
  const { status, body } = await importCsv(admin, csv, input);
  expect([dry.status, status, body]).toEqual([200, 200, expect.objectContaining({ dry_run: false })]);
  const foreseen = body.projects.map((one: { isNew: boolean }) => ({ ...one, ...(one.isNew ? { _id: null } : {}) }));
  expect(dry.body).toEqual({ ...body, dry_run: true, projects: foreseen });
  const work = await readWork(service, admin);
  const again = await importCsv(admin, csv, input);
  const { imported, withoutTime } = again.body.skipped;
  expect(again.body).toMatchObject({ created: { projects: 0, tasks: 0, logs: 0 }, projects: [], errorCount: 0 });
  expect(imported + withoutTime).toBe(body.rows);
  expect(await readWork(service, admin)).toEqual(work);
  expect((await verifyTotals(database.db, admin.companyId)).differences).toEqual([]);
  return { report: body, ...work };
}

describe('a file', () => {
  test('of Toggl becomes projects, tasks and logs', async () => {
    const { admin, grace } = await startCompany();
    const { report, projects, tasks, logs } = await importThrice(admin, 'toggl.csv', { time_zone: 'Europe/Berlin' });
    expect(report).toMatchObject({
      rows: 5,
      created: { projects: 3, tasks: 3, logs: 4 },
      skipped: { imported: 0, withoutTime: 1, withErrors: 0 },
      errorCount: 0,
      errors: [],
      fittingDateOrders: [],
    });
    expect(report.projects.map((one: object) => Object.values(one).slice(1))).toEqual([
      ['Compiler (Navy)', true, 1, 2],
      ['Manual', true, 1, 1],
      ['Without project', true, 1, 1],
    ]);
    expect(projects.map(({ name, owner_id, logged_seconds }) => [name, owner_id, logged_seconds])).toEqual([
      ['Compiler (Navy)', admin.employeeId, 9012],
      ['Manual', admin.employeeId, 9000],
      ['Without project', admin.employeeId, 1200],
    ]);
    expect(tasks.map(({ title, status, owner_id }) => [title, status, owner_id])).toEqual([
      ['Lexer', 'in_progress', admin.employeeId],
      ['Without task', 'in_progress', admin.employeeId],
      ['Without task', 'in_progress', admin.employeeId],
    ]);
    expect(
      logs.map((log) => [log.start_time.toISOString(), log.duration_seconds, log.description, log.billable]),
    ).toEqual([
      ['2026-03-02T08:00:00.000Z', 5400, 'Read "flow" cards, twice', true],
      ['2026-03-02T10:00:00.000Z', 3612, '=2+5 cards', false],
      ['2026-03-02T21:45:00.000Z', 9000, 'First line\nsecond line', true],
      ['2026-03-03T08:00:00.000Z', 1200, 'Mail', false],
    ]);
    expect(new Set(logs.map((log) => log.employee_id))).toEqual(new Set([grace.employeeId]));
  });

  test('of Clockify with semicolons, decimal commas and twelve hours becomes logs', async () => {
    const { admin } = await startCompany();
    const input = { source: 'clockify', time_zone: 'Europe/Rome', date_order: 'DMY' };
    const { report, logs } = await importThrice(admin, 'clockify.csv', input);
    expect(report.created).toEqual({ projects: 2, tasks: 2, logs: 3 });
    expect(logs.map((log) => [log.start_time.toISOString(), log.end_time.toISOString(), log.billable])).toEqual([
      ['2026-03-02T08:00:00.000Z', '2026-03-02T09:20:00.000Z', true],
      ['2026-03-02T11:10:00.000Z', '2026-03-02T12:00:00.000Z', false],
      ['2026-03-02T22:30:00.000Z', '2026-03-02T23:15:00.000Z', true],
    ]);
  });

  test('of Jira becomes tasks, with the work that was logged on them', async () => {
    const { admin, grace } = await startCompany();
    await admin.patch(`/api/employees/${admin.employeeId}/`, { first_name: 'Ada', last_name: 'Lovelace' });
    const input = {
      source: 'jira',
      time_zone: 'America/New_York',
      date_order: 'DMY',
      statuses: { 'WAITING for brass': 'in_progress' },
    };
    const { report, tasks, logs, projects } = await importThrice(admin, 'jira.csv', input);
    expect(report).toMatchObject({ rows: 3, created: { projects: 1, tasks: 3, logs: 2 } });
    expect(projects.map(({ name }) => name)).toEqual(['Engine']);
    expect(tasks).toMatchObject([
      {
        title: 'ENG-1 Fix the carry',
        status: 'done',
        owner_id: grace.employeeId,
        due_date: '2026-03-06',
        estimated_hours: 8,
        description: 'h2. Carry\n\nIt *sticks*, sometimes.',
        completed_at: new Date('2026-03-04T21:30:00Z'),
      },
      { title: 'ENG-2 Draw the mill, whole', status: 'in_progress', owner_id: admin.employeeId, due_date: null },
      { title: 'ENG-3 Print tables', status: 'in_review', owner_id: admin.employeeId, estimated_hours: 1 },
    ]);
    expect(
      logs.map((log) => [log.start_time.toISOString(), log.duration_seconds, log.description, log.employee_id]),
    ).toEqual([
      ['2026-03-02T14:00:00.000Z', 5400, 'Took it apart; cleaned it', grace.employeeId],
      ['2026-03-03T18:15:00.000Z', 1800, null, admin.employeeId],
    ]);
    await service.drain();
    expect(await titlesOf(grace)).toEqual(['Ada Lovelace imported a task of yours']);
  });

  test('of Trello becomes tasks, also where cards have one name', async () => {
    const { admin, grace } = await startCompany();
    const { _id: adminId } = (
      await admin.patch(`/api/employees/${admin.employeeId}/`, { first_name: 'Ada', last_name: 'Lovelace' })
    ).body;
    const input = { source: 'trello', time_zone: 'Europe/London', people: { GraceH: grace.employeeId } };
    const { report, tasks } = await importThrice(admin, 'trello.csv', input);
    expect(report).toMatchObject({ rows: 3, created: { projects: 1, tasks: 3, logs: 0 } });
    expect(tasks).toMatchObject([
      // The last evening of March in UTC is April in London.
      { title: 'Cut the gears', status: 'in_progress', owner_id: grace.employeeId, due_date: '2026-04-01' },
      { title: 'Order brass', status: 'todo', owner_id: adminId, completed_at: null },
      {
        title: 'Order brass',
        status: 'done',
        owner_id: grace.employeeId,
        completed_at: new Date('2026-02-20T16:00:00.000Z'),
      },
    ]);
    expect((await admin.get(`/api/tasks/${tasks[0]!.task_id}/`)).body.collaborators).toMatchObject([{ _id: adminId }]);
    await service.drain();
    expect(await titlesOf(grace)).toEqual(['Ada Lovelace imported 2 tasks of yours']);
    expect(await titlesOf(admin)).toEqual([]);
  });
});

/** What a person was notified of by imports. */
async function titlesOf({ companyId, employeeId }: Actor): Promise<string[]> {
  const rows = await database.db
    .selectFrom('notifications')
    .where('company_id', '=', companyId)
    .where('recipient_id', '=', employeeId)
    .where('title', 'like', '% imported %')
    .select('title')
    .execute();
  return rows.map(({ title }) => title);
}
