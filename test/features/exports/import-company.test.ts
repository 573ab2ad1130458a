import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { verifyCounts } from '../../../db/derived/verify-counts.ts';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import { importCompany, type Imported } from '../../../server/features/exports/import-company.ts';
import { BadArchive, openArchive } from '../../../server/features/exports/read-archive.ts';
import { described, exportFile, readZip, rowsOf, withRows, zipOf, type Files } from '../../support/export-file.ts';
import { startService } from '../../support/service.ts';
import { makeThings } from '../../support/things.ts';

const service = await startService();
const founder = await service.registerCompany({ name: 'Analytical Engines' });
const admin = await service.addEmployee(founder, { isAdmin: true });
const colleague = await service.addEmployee(admin);
for (let more = 0; more < 9; more += 1) await service.addEmployee(admin);
const { task } = await makeThings(service, admin, colleague);
await admin.post('/api/tasklogs/timer/start/', { taskId: task });
await service.database.db.deleteFrom('exports').execute();
await service.drain();
const bytes = await exportFile(service, founder);
const first = await readZip(bytes);
const folder = await mkdtemp(join(tmpdir(), 'wms-import-'));
afterAll(() => rm(folder, { recursive: true }));

async function importFile(content: Files | Buffer, { sendsInvitations = false } = {}): Promise<Imported> {
  const file = join(folder, 'file.zip');
  writeFileSync(file, Buffer.isBuffer(content) ? content : await zipOf(content));
  const archive = await openArchive(file);
  const transaction = service.database.owner.begin();
  try {
    const options = { now: service.clock.now(), settings: { appUrl: 'https://app.example.test' }, onRows: () => {} };
    const imported = await importCompany(transaction.db, archive, { ...options, sendsInvitations });
    await transaction.commit();
    return imported;
  } catch (error) {
    await transaction.rollback();
    throw error;
  } finally {
    archive.close();
  }
}

/** The sentence with which a file is refused. */
async function refusal(content: Files | Buffer): Promise<string> {
  try {
    await importFile(content);
    return 'imported';
  } catch (error) {
    if (error instanceof BadArchive) return error.message;
    throw error;
  }
}

const manifestWith = (before: string, after: string) =>
  new Map(first).set('manifest.json', first.get('manifest.json')!.replace(before, after));

/** The file with a value in a column of one row, or of all. */
const set = (table: string, column: string, value: unknown, only?: number): Files =>
  withRows(
    first,
    table,
    rowsOf(first, table).map((row, index) => (index === (only ?? index) ? { ...row, [column]: value } : row)),
  );

const refused: [what: string, content: () => Files | Buffer, sentence: RegExp][] = [
  ['is truncated', () => bytes.subarray(0, -400), /is no complete ZIP archive/],
  ['is text', () => Buffer.from('{"format": "work-management-export"}'), /is no complete ZIP archive/],
  ['is of another kind', () => new Map([['board.json', '{}']]), /is no export of this service/],
  ['says another format', () => manifestWith('work-management-export', 'boards'), /is no export of this service/],
  ['is newer', () => manifestWith('"version": 1', '"version": 2'), /made by a newer version/],
  [
    'has a table more',
    () => manifestWith('"name": "tasks"', '"name": "goals"'),
    /a table goals: it was made by a newer/,
  ],
  [
    'has a table that is never exported',
    () => manifestWith('"name": "tasks"', '"name": "accounts"'),
    /a table accounts/,
  ],
  [
    'has a column more',
    () => described(first, 'tasks', (said) => ({ ...said, columns: [...said.columns, 'colour'] })),
    /a column tasks\.colour: it was made by a newer/,
  ],
  ['is of one person', () => manifestWith('"employee": null', '"employee": 3'), /the data of one person/],
  [
    'has a changed line',
    () => new Map(first).set('tasks.jsonl', first.get('tasks.jsonl')!.replace('"status":"todo"', '"status":"done"')),
    /^tasks\.jsonl is not as it was written/,
  ],
  ['lacks lines', () => new Map(first).set('tasks.jsonl', ''), /^tasks\.jsonl is not as it was written/],
  ['lacks the end of a line', () => new Map(first).set('tasks.jsonl', '{}'), /^tasks\.jsonl ends within a line/],
  ['lacks a table', () => new Map([...first].filter(([name]) => name !== 'tasks.jsonl')), /lacks tasks\.jsonl/],
  ['has no JSON', () => new Map(first).set('tasks.jsonl', 'task\n'), /^tasks\.jsonl, line 1 is no JSON object/],
  ['has another column', () => set('tasks', 'colour', 'red'), /^tasks\.jsonl, line 1 does not have the columns/],
  [
    'has a row of somebody else',
    () => set('task_logs', 'employee_id', 4711, 0),
    /^task_logs\.jsonl, line 1: employee_id refers to a row of employees that is not in the file/,
  ],
  ['has an owner who is not in it', () => set('companies', 'owner_id', 4711), /owner_id refers to a row of employees/],
  [
    'has a log of 600 hours',
    () => set('task_logs', 'end_time', '2046-01-01T00:00:00+00:00', 0),
    /^task_logs\.jsonl, line 1: end_time must be at most 24 hours after the start/,
  ],
  [
    'has a log that ends before it starts',
    () => set('task_logs', 'end_time', '2006-01-01T00:00:00+00:00', 0),
    /^task_logs\.jsonl, lines? 1 .*cannot be stored/,
  ],
  ['has a status that does not exist', () => set('tasks', 'status', 'dropped'), /^tasks\.jsonl, lines? 1 .*cannot/],
  ['has a number that is text', () => set('task_logs', 'rate_minor_units', 'ten'), /^task_logs\.jsonl, lines? 1 /],
  [
    'has a web address as a name',
    () => set('employees', 'first_name', 'https://evil.example', 0),
    /^employees\.jsonl, line 1: first_name must not contain a web address/,
  ],
  ['has no address', () => set('employees', 'email', 'ada', 0), /^employees\.jsonl, line 1: email must be an e-mail/],
  ['has a time zone of its own', () => set('companies', 'timezone', 'Mars/Base'), /line 1: timezone must be an IANA/],
  ['has two rows of one number', () => set('employees', 'employee_id', 1), /line 2 has the number of an earlier line/],
  ['has a link to elsewhere', () => set('notifications', 'link', 'https://evil.example'), /link must be a path/],
  ['has an image that is none', () => set('comments', 'image', 'javascript:alert(1)', 0), /line 1: image/],
  ['has a text without end', () => set('tasks', 'title', 'x'.repeat(200_000), 0), /line 1: title is too long/],
  [
    'has too many people',
    () => set('subscriptions', 'plan', 'starter'),
    /active employees, and its plan Starter has 10/,
  ],
  ['has a plan that does not exist', () => set('subscriptions', 'plan', 'gold'), /has a plan that this installation/],
];

test.for(refused)('a file that %s is refused in a sentence, and changes nothing', async ([, content, sentence]) => {
  const before = await countRows();
  expect(await refusal(content())).toMatch(sentence);
  expect(await countRows()).toEqual(before);
});

async function countRows(): Promise<number[]> {
  const counts: number[] = [];
  for (const table of ['companies', 'employees', 'tasks', 'jobs'] as const) {
    const all = service.database.db.selectFrom(table).select(({ fn }) => fn.countAll<number>().as('count'));
    counts.push((await all.executeTakeFirstOrThrow()).count);
  }
  return counts;
}

test('a picture must be one, and markup that is not allowed becomes text', async () => {
  const row = { picture_id: '0b7c4a30-a6f7-4f0b-9c4d-5e6f7a8b9c0d', created_at: '2026-03-01T09:00:00+00:00' };
  const content = Buffer.from('<script>alert(1)</script>').toString('base64');
  const answers = [];
  for (const type of ['text/html', 'image/webp'])
    answers.push(await refusal(withRows(first, 'pictures', [{ ...row, content_type: type, content }])));
  expect(answers).toEqual([
    expect.stringMatching(/^pictures\.jsonl, line 1: content_type/),
    expect.stringMatching(/^pictures\.jsonl, line 1: content/),
  ]);
  const { companyId } = await importFile(set('comments', 'message', '<p>Hi</p><script>alert(1)</script>'));
  const { db } = service.database;
  const comments = await db.selectFrom('comments').where('company_id', '=', companyId).select('message').execute();
  expect(comments.length).toBeGreaterThan(0);
  for (const { message } of comments) expect(message).not.toContain('<script');
});

test('a message that an erasure has made longer than any that can be written is kept', async () => {
  const leaving = await service.addEmployee(admin, { first_name: 'Al', last_name: 'Bo' });
  const said = { taskId: task, sender: admin.employeeId, message: 'Al Bo, '.repeat(9_000) };
  const { body: comment } = await admin.post('/api/task-chats/', said);
  expect((await admin.post(`/api/employees/${leaving.employeeId}/erase/`)).status).toBe(200);
  await service.drain();
  const { companyId } = await importFile(await exportFile(service, founder));
  const { db } = service.database;
  const messages = await db.selectFrom('comments').where('company_id', '=', companyId).select('message').execute();
  expect(messages).toContainEqual({ message: `Former employee ${leaving.employeeId}, `.repeat(9_000) });
  await admin.delete(`/api/taskchat/${comment._id}/`);
});

test('a person who was erased has their new number, so that others can be erased as well', async () => {
  const leaving = await service.addEmployee(admin);
  expect((await admin.post(`/api/employees/${leaving.employeeId}/erase/`)).status).toBe(200);
  await service.drain();
  const exported = await readZip(await exportFile(service, founder));
  const employeesOf = async (content: Files) => {
    const { companyId } = await importFile(content);
    const people = service.database.db.selectFrom('employees').where('company_id', '=', companyId);
    return people.select(['company_id', 'employee_id', 'name', 'email', 'erased_at']).orderBy('employee_id').execute();
  };
  const before = await employeesOf(exported);
  // The number that the file has is somebody else's in the next import.
  const rows = rowsOf(exported, 'employees');
  const other = before[0]!.employee_id + rows.length;
  const email = `erased-${other}@erased.invalid`;
  const people = rows.map((row) => (row['employee_id'] === leaving.employeeId ? { ...row, email } : row));
  const after = await employeesOf(withRows(exported, 'employees', people));
  expect(after[0]!.employee_id).toBe(other);
  for (const { employee_id: id, name, email: address } of after.filter((one) => one.erased_at !== null))
    expect([name, address]).toEqual([`Former employee ${id}`, `erased-${id}@erased.invalid`]);
  expect(after.filter((one) => one.email === email)).toEqual([]);
});

test.each([
  ['projects', 'deleted_at', '2026-03-01T09:00:00+00:00'],
  ['projects', 'status', 'archived'],
  ['tasks', 'deleted_at', '2026-03-01T09:00:00+00:00'],
  ['comments', 'is_deleted', true],
  ['notifications', 'is_read', true],
  ['notifications', 'is_archived', true],
  ['employees', 'is_active', false],
])('totals agree with what is imported: %s with %s', async (table, column, value) => {
  const { companyId } = await importFile(set(table, column, value));
  const { db } = service.database.forCompany(companyId);
  const rows = await db
    .selectFrom(table as 'tasks')
    .where('company_id', '=', companyId)
    .select('company_id')
    .execute();
  expect(rows.length).toBeGreaterThan(0);
  expect((await verifyCounts(db, companyId)).differences).toEqual([]);
  expect((await verifyTotals(db, companyId)).differences).toEqual([]);
});

test('nobody gets in by an import, or is told of anything', async () => {
  const { db } = service.database;
  const sessions = await db.selectFrom('sessions').select('session_id').execute();
  const mails = service.mailbox.mails.length;
  const { companyId, invited } = await importFile(bytes);
  const people = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .select(['account_id', 'is_active'])
    .execute();
  expect(people.filter(({ account_id: accountId }) => accountId !== null)).toEqual([]);
  expect(invited).toBe(people.filter((one) => one.is_active).length);
  expect(await db.selectFrom('sessions').select('session_id').execute()).toHaveLength(sessions.length);
  const jobs = await db.selectFrom('jobs').where('waits_for_company', '=', companyId).select('handler').execute();
  expect(jobs).toEqual([{ handler: 'timer-overdue' }]);
  await service.drain();
  expect(service.mailbox.mails).toHaveLength(mails);
  const { body } = await founder.get('/api/invitations/');
  expect(body.invitations.length).toBeGreaterThan(0);
});

test('--send-invitations mails everybody who is active', async () => {
  const before = service.mailbox.mails.length;
  const { invited } = await importFile(bytes, { sendsInvitations: true });
  await service.drain();
  const mails = service.mailbox.mails.slice(before);
  expect(mails).toHaveLength(invited);
  expect(mails[0]!.subject).toContain('invited you to Analytical Engines');
});
