import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { importCompany } from '../../../server/features/exports/import-company.ts';
import { openArchive } from '../../../server/features/exports/read-archive.ts';
import { errorOf, type Actor } from '../../support/actor.ts';
import { exportFile } from '../../support/export-file.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const ada = await service.registerCompany({ name: 'Engines' });
const grace = await service.addEmployee(ada);
const neighbour = await service.registerCompany({ name: 'Looms' });

type Marked = { text: string; ranges: { start: number; end: number }[] };
type Result = {
  kind: string;
  _id: number;
  title: Marked;
  excerpt: Marked | null;
  projectId: number | null;
  taskId: number | null;
};
type Page = { results: Result[]; nextCursor: string | null };

const pathOf = (by: Actor, query: Record<string, string>) =>
  `/api/search/company/${by.companyId}/?${new URLSearchParams(query).toString()}`;

async function search(by: Actor, q: string, more: Record<string, string> = {}): Promise<Page> {
  const { status, body } = await by.get(pathOf(by, { q, ...more }));
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
}

/** What is found, as `kind title`. */
const found = async (by: Actor, q: string, more: Record<string, string> = {}): Promise<string[]> =>
  (await search(by, q, more)).results.map(({ kind, title }) => `${kind} ${title.text}`);

async function create(by: Actor, path: string, body: object): Promise<number> {
  const answer = await by.post(path, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body._id;
}
const addProject = (by: Actor, name: string, more: object = {}) => create(by, '/api/projects/', { name, ...more });
const addTask = (by: Actor, projectId: number, title: string, more: object = {}) =>
  create(by, '/api/tasks/', { projectId, title, ...more });
const addComment = (by: Actor, taskId: number, message: string) =>
  create(by, '/api/task-chats/', { taskId, sender: by.employeeId, message });

const project = await addProject(ada, 'Difference Engine');
const marksOf = ({ text, ranges }: Marked): string[] => ranges.map(({ start, end }) => text.slice(start, end));

describe('a search', () => {
  test('finds beginnings of words in titles, texts, comments and people, the best first', async () => {
    const word = 'quixotic';
    const owned = await addProject(ada, `Quixotic`);
    const whole = await addTask(ada, project, `A ${word} gear`);
    const longer = await addTask(ada, project, 'Quixotically drawn');
    const described = await addTask(ada, project, 'Crank', { description: `Turn it\nuntil ${word} & more` });
    const comment = await addComment(grace, described, '<p>so <b>quix</b>otic &amp; odd</p>');
    await ada.patch(`/api/employees/${grace.employeeId}/`, { designation: 'Quixotic engineer' });

    const { results, nextCursor } = await search(ada, 'QuixÓTIC');
    expect(nextCursor).toBeNull();
    expect(results.map(({ kind, _id }) => `${kind} ${_id}`)).toEqual([
      `project ${owned}`,
      `task ${longer}`,
      `task ${whole}`,
      `employee ${grace.employeeId}`,
      `task ${described}`,
      `comment ${comment}`,
    ]);
    expect(results[2]).toEqual({
      kind: 'task',
      _id: whole,
      title: { text: 'A quixotic gear', ranges: [{ start: 2, end: 10 }] },
      excerpt: null,
      projectId: project,
      taskId: whole,
    });
    expect(results[4]!.excerpt).toEqual({ text: 'Turn it until quixotic & more', ranges: [{ start: 14, end: 22 }] });
    expect(results[5]).toMatchObject({ title: { text: 'Crank', ranges: [] }, projectId: project, taskId: described });
    expect(results[5]!.excerpt).toEqual({ text: 'so quixotic & odd', ranges: [{ start: 3, end: 11 }] });
    expect(await found(ada, 'quix gear')).toEqual(['task A quixotic gear']);
    expect(await found(ada, 'quixotic absent')).toEqual([]);
  });

  test('is narrowed by kinds and by a project', async () => {
    const other = await addProject(ada, 'Narrow loom');
    const task = await addTask(ada, other, 'Narrow gauge');
    await addTask(ada, project, 'Narrow band');
    await addComment(ada, task, 'a narrow escape');
    expect(await found(ada, 'narrow', { kind: 'task' })).toEqual(['task Narrow band', 'task Narrow gauge']);
    expect(await found(ada, 'narrow', { kind: 'project,comment' })).toEqual([
      'project Narrow loom',
      'comment Narrow gauge',
    ]);
    expect(await found(ada, 'narrow', { project_id: String(other) })).toEqual([
      'project Narrow loom',
      'task Narrow gauge',
      'comment Narrow gauge',
    ]);
    expect(await found(ada, 'grace', { project_id: String(other), kind: 'employee' })).toEqual([]);
  });

  test.each([
    ['a transposition', 'recieve'],
    ['a letter too much', 'receeive'],
    ['a letter too few', 'recive'],
    ['another letter', 'receave'],
    ['a slip in a form of the word', 'recieved'],
  ])('forgives %s', async (_, q) => {
    const company = await service.registerCompany();
    const id = await addProject(company, 'Warehouse');
    await addTask(company, id, 'Received goods');
    await addTask(company, id, 'Relieve the crew');
    const { results } = await search(company, q);
    expect(results.map(({ title }) => title.text)).toContain('Received goods');
    expect(marksOf(results.find(({ title }) => title.text === 'Received goods')!.title)).toEqual(['Received']);
  });

  test.each([
    ['a slip for a word of three letters', 'Cat food', 'catt'],
    ['one in a word with digits', 'Crane abc1234', 'abc1243'],
    ['a letter too few of an alphabet that is not tried', 'ქართული', 'ქართლი'],
  ])('does not forgive %s', async (_, title, q) => {
    const company = await service.registerCompany();
    await addTask(company, await addProject(company, 'Warehouse'), title);
    expect((await search(company, q)).results).toEqual([]);
  });

  test('finds Chinese, Japanese and Korean inside of a text, from one character on', async () => {
    const task = await addTask(ada, project, '新しい東京タワーの設計図');
    await addTask(ada, project, '東と京');
    await addComment(ada, task, '프로젝트계획을 확인');
    await addTask(ada, project, '東京の京都');
    expect(await found(ada, '東京')).toEqual(['task 東京の京都', 'task 新しい東京タワーの設計図']);
    expect(await found(ada, '設')).toEqual(['task 新しい東京タワーの設計図']);
    expect(await found(ada, '東京タワー')).toEqual(['task 新しい東京タワーの設計図']);
    expect(await found(ada, '東京都')).toEqual([]);
    expect(await found(ada, '계획')).toEqual(['comment 新しい東京タワーの設計図']);
    expect(marksOf((await search(ada, '計図')).results[0]!.title)).toEqual(['計図']);
  });

  test('knows a change with its commit', async () => {
    const task = await addTask(ada, project, 'Ephemeral');
    expect(await found(ada, 'ephemeral')).toEqual(['task Ephemeral']);
    await ada.patch(`/api/tasks/${task}/`, { title: 'Perennial' });
    expect(await found(ada, 'ephemeral')).toEqual([]);
    expect(await found(ada, 'perennial')).toEqual(['task Perennial']);
  });
});

describe('what a search finds', () => {
  test('is of the caller’s company alone', async () => {
    await addTask(ada, project, 'Clandestine');
    const { projectId: theirs } = { projectId: await addProject(neighbour, 'Shawl') };
    expect(await found(neighbour, 'clandestine')).toEqual([]);
    expect(errorOf(await neighbour.get(pathOf(ada, { q: 'clandestine' })))).toEqual({ status: 404, code: 'NOT_FOUND' });
    const { status, body } = await ada.get(pathOf(ada, { q: 'clandestine', project_id: String(theirs) }));
    expect([status, body.issues[0].path, body.issues[0].code]).toEqual([400, ['project_id'], 'not_found']);
  });

  test('the database finds for no other company than that of the statement', async () => {
    const { db } = service.database.forCompany(neighbour.companyId);
    const matches = (companyId: number) =>
      sql`select * from search_matches('task', ${companyId}, '[["clandestine"]]', '{}', null, 9007199254740991, 10)`.execute(
        db,
      );
    expect((await matches(ada.companyId)).rows).toEqual([]);
  });

  test('is nothing that is deleted, with all that depends on it', async () => {
    const doomed = await addProject(ada, 'Zeppelin project');
    const task = await addTask(ada, doomed, 'Zeppelin task');
    const kept = await addTask(ada, project, 'Zeppelin kept');
    await addComment(ada, task, 'Zeppelin comment');
    const comment = await addComment(ada, kept, 'Zeppelin remark');
    const answered = await addComment(ada, kept, 'Zeppelin question');
    await create(ada, '/api/task-chats/', { taskId: kept, sender: ada.employeeId, message: 'yes', reply_to: answered });
    expect(await found(ada, 'zeppelin')).toHaveLength(6);
    await ada.delete(`/api/taskchat/${comment}/`);
    await ada.delete(`/api/taskchat/${answered}/`);
    expect(await found(ada, 'zeppelin')).toHaveLength(4);
    await ada.delete(`/api/projects/${doomed}/`);
    expect(await found(ada, 'zeppelin')).toEqual(['task Zeppelin kept']);
    await ada.delete(`/api/tasks/${kept}/`);
    expect(await found(ada, 'zeppelin')).toEqual([]);
  });

  test('is every employee who is not deleted, and nobody who is erased', async () => {
    const leaver = await service.addEmployee(ada, { first_name: 'Zerubabel', last_name: 'Quill' });
    const task = await addTask(leaver, project, 'Ask Zerubabel');
    expect(await found(ada, 'zerubabel', { kind: 'employee' })).toEqual(['employee Zerubabel Quill']);
    await ada.patch(`/api/employees/${leaver.employeeId}/`, { is_active: false });
    expect(await found(ada, 'zerubabel', { kind: 'employee' })).toEqual(['employee Zerubabel Quill']);
    await ada.delete(`/api/employees/${leaver.employeeId}/`);
    expect(await found(ada, 'zerubabel', { kind: 'employee' })).toEqual([]);
    await ada.post(`/api/employees/${leaver.employeeId}/restore/`);
    expect(await found(ada, 'zerubabel', { kind: 'employee' })).toHaveLength(1);
    await ada.delete(`/api/employees/${leaver.employeeId}/`);
    const erased = await ada.post(`/api/employees/${leaver.employeeId}/erase/`, {});
    expect(erased).toMatchObject({ status: 200 });
    await service.drain();
    const { results } = await search(ada, 'zerubabel');
    expect(results.filter(({ kind }) => kind === 'employee')).toEqual([]);
    expect(results.filter(({ _id }) => _id === task).map(({ title }) => title.text)).not.toContain('Zerubabel Quill');
  });

  test('has imported things', async () => {
    const company = await service.registerCompany({ name: 'Exported' });
    const id = await addProject(company, 'Cartography');
    const task = await addTask(company, id, 'Map of 東京');
    await addComment(company, task, 'Cartographers wanted');
    const folder = await mkdtemp(join(tmpdir(), 'wms-search-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'export.zip');
    writeFileSync(file, await exportFile(service, company));
    const archive = await openArchive(file);
    const transaction = service.database.owner.begin();
    const settings = { appUrl: 'https://app.example.test' };
    const { companyId } = await importCompany(transaction.db, archive, {
      now: service.clock.now(),
      settings,
      sendsInvitations: false,
      onRows: () => {},
    });
    await transaction.commit();
    archive.close();
    const { db } = service.database.forCompany(companyId);
    const counted = async (kind: string, word: string) => {
      const { rows } = await sql<{ id: number }>`
        select * from search_matches(${kind}, ${companyId}, ${JSON.stringify([[word]])}::jsonb, '{}', null, 9007199254740991, 10)`.execute(
        db,
      );
      return new Set(rows).size > 0;
    };
    expect(await counted('project', 'carto')).toBe(true);
    expect(await counted('task', '東京')).toBe(true);
    expect(await counted('comment', 'cartographer')).toBe(true);
  });
});

describe('the pages of a search', () => {
  test('have every result once, in the order of one large page, whatever is added between them', async () => {
    const company = await service.registerCompany();
    const id = await addProject(company, 'Paged');
    for (let made = 1; made <= 25; made += 1)
      await addTask(company, id, made % 2 ? `Paged ${made}` : `A ${made}`, { description: 'paged too' });
    const whole = (await search(company, 'paged', { limit: '100' })).results.map(({ kind, _id }) => `${kind} ${_id}`);
    expect(whole).toHaveLength(26);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await search(company, 'paged', { limit: '7', ...(cursor === undefined ? {} : { cursor }) });
      expect(page.results.length).toBeLessThanOrEqual(7);
      paged.push(...page.results.map(({ kind, _id }) => `${kind} ${_id}`));
      cursor = page.nextCursor ?? undefined;
      await addTask(company, id, `Paged between ${paged.length}`);
      await addProject(company, 'Paged');
      await addTask(company, id, 'Ranked last', { description: 'paged too' });
    } while (cursor !== undefined);
    expect(paged).toEqual(whole);
    expect(await found(company, 'paged', { limit: '3' })).toHaveLength(3);
  });

  test('refuse a cursor that is none, a page that is too large, and a kind that is none', async () => {
    for (const [query, field] of [
      [{ cursor: 'x' }, 'cursor'],
      [{ cursor: Buffer.from('0.0.0').toString('base64url') }, 'cursor'],
      [{ limit: '101' }, 'limit'],
      [{ limit: '0' }, 'limit'],
      [{ kind: 'task,note' }, 'kind'],
      [{ q: 'x'.repeat(201) }, 'q'],
      [{ q: 'a\0b' }, 'q'],
    ] as const) {
      const { status, body } = await ada.get(pathOf(ada, { q: 'gear', ...query }));
      expect([query, status, body.issues?.[0].path]).toEqual([query, 400, [field]]);
    }
  });
});

test.each([
  "'; drop table tasks; --",
  '%',
  '_',
  '\\',
  '%%%%',
  'gear & !crank | (a <-> b):*',
  '"unclosed',
  '{a,b}',
  "\\' or true --",
  '🚀'.repeat(100),
  'a '.repeat(100),
  'ab '.repeat(66),
  'é'.repeat(200),
  '東'.repeat(200),
  '\u202e\u0301\u0301',
  '[["x"]]',
])('is not broken by %j', async (q) => {
  const begun = performance.now();
  const { results } = await search(ada, q);
  expect(Array.isArray(results)).toBe(true);
  expect(performance.now() - begun).toBeLessThan(3_000);
});

test('a pattern is no wildcard', async () => {
  await addTask(ada, project, 'Percent 100% sure_thing');
  expect(await found(ada, 'p%t')).toEqual([]);
  expect(await found(ada, '100%')).toEqual(['task Percent 100% sure_thing']);
  expect(await found(ada, 'sure_thing')).toEqual(['task Percent 100% sure_thing']);
});
