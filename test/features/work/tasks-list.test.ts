import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const ada = await service.registerCompany({ name: 'Engines' });
const grace = await service.addEmployee(ada);
const neighbour = await service.registerCompany({ name: 'Looms' });

type Body = Record<string, unknown>;

async function startProject(by: Actor): Promise<number> {
  return (await by.post('/api/projects/', { name: 'Difference Engine' })).body._id;
}

async function add(by: Actor, projectId: number, title: string, more: Body = {}): Promise<number> {
  const { status, body } = await by.post('/api/tasks/', { projectId, title, ...more });
  expect(status).toBe(200);
  return body._id;
}

async function titles(by: Actor, query: Record<string, string> = {}): Promise<string[]> {
  const { status, body } = await by.get(`/api/tasks/company/${by.companyId}/?${new URLSearchParams(query).toString()}`);
  expect(status).toBe(200);
  expect(body.total).toBe(body.results.length);
  return body.results.map((task: { title: string }) => task.title);
}

describe('the list of tasks', () => {
  test('is the newest first, in pages of 20 with a total, each task whole', async () => {
    const company = await service.registerCompany();
    const colleague = await service.addEmployee(company);
    const projectId = await startProject(company);
    for (let made = 1; made <= 41; made += 1)
      await add(company, projectId, `Task ${made}`, made === 40 ? { collaboratorIds: [colleague.employeeId] } : {});
    const path = `/api/tasks/company/${company.companyId}/`;
    const first = await company.get(path);
    expect(first.body).toMatchObject({ page: 1, pageSize: 20, total: 41, totalPages: 3 });
    expect(first.body.results.map((task: { title: string }) => task.title)).toEqual(
      Array.from({ length: 20 }, (_, index) => `Task ${41 - index}`),
    );
    expect(first.body.results[1].collaborators).toEqual([{ _id: colleague.employeeId, name: colleague.name }]);
    expect(first.body.results[1]).toEqual((await company.get(`/api/tasks/${first.body.results[1]._id}/`)).body);
    const last = await company.get(`${path}?page=3`);
    expect(last.body.results.map((task: { title: string }) => task.title)).toEqual(['Task 1']);
    expect((await company.get(`${path}?page=4`)).body).toEqual({
      results: [],
      page: 4,
      pageSize: 20,
      total: 41,
      totalPages: 3,
      isTotalCapped: false,
      nextCursor: null,
    });
  });

  test('is narrowed by project, status, owner and title together', async () => {
    const engine = await startProject(ada);
    const loom = await startProject(ada);
    await add(ada, engine, 'Cut the gears');
    await add(grace, engine, 'Polish the GEARS', { status: 'done' });
    await add(grace, loom, 'Weave', { status: 'done' });
    await add(neighbour, await startProject(neighbour), 'Foreign gears', { status: 'done' });

    expect(await titles(ada)).toEqual(['Weave', 'Polish the GEARS', 'Cut the gears']);
    expect(await titles(ada, { projectId: String(engine) })).toEqual(['Polish the GEARS', 'Cut the gears']);
    expect(await titles(ada, { status: 'done' })).toEqual(['Weave', 'Polish the GEARS']);
    expect(await titles(ada, { owner_id: String(ada.employeeId) })).toEqual(['Cut the gears']);
    expect(await titles(ada, { q: 'gEaRs' })).toEqual(['Polish the GEARS', 'Cut the gears']);
    expect(await titles(ada, { q: 'gears', owner_id: String(grace.employeeId), status: 'done' })).toEqual([
      'Polish the GEARS',
    ]);
    expect(await titles(ada, { q: 'gears', projectId: String(loom) })).toEqual([]);
    expect(await titles(neighbour)).toEqual(['Foreign gears']);
  });

  test('has what is due by a day and not done, what is overdue too', async () => {
    const company = await service.registerCompany();
    const projectId = await startProject(company);
    const status = 'in_review';
    for (const [title, more] of [
      ['Overdue', { dueDate: '2026-02-01' }],
      ['Due', { dueDate: '2026-03-06', status }],
      ['Due later', { dueDate: '2026-03-07' }],
      ['Done in time', { dueDate: '2026-03-05', status: 'done' }],
      ['Due never', {}],
    ] as const)
      await add(company, projectId, title, more);
    expect(await titles(company, { dueBy: '2026-03-06' })).toEqual(['Due', 'Overdue']);
    expect(await titles(company, { dueBy: '2026-03-06', status })).toEqual(['Due']);
    expect(await titles(company, { dueBy: '2026-03-06', status: 'done' })).toEqual([]);
    expect(await titles(company, { dueBy: '2026-03-07', q: 'due' })).toEqual(['Due later', 'Due', 'Overdue']);
    expect(await titles(company, { dueBy: '2026-01-31' })).toEqual([]);
    const wrong = await company.get(`/api/tasks/company/${company.companyId}/?dueBy=2026-02-30`);
    expect(errorOf(wrong).issues).toEqual(['dueBy']);
  });

  test('finds a part of titles that thousands have, with other filters and on later pages, and one that few have among them', async () => {
    const company = await service.registerCompany();
    const projectId = await startProject(company);
    await sql`
      insert into tasks (company_id, project_id, title, status, owner_id, created_at, updated_at, completed_at)
      select ${company.companyId}, ${projectId}, 'Gear ' || n || case when n % 800 = 0 then ' of brass' else '' end,
        case when n % 100 = 0 then 'done' else 'todo' end, ${company.employeeId}, now(), now(), case when n % 100 = 0 then now() end
      from generate_series(1, 2001) as n`.execute(service.database.db);
    const list = async (query: string) =>
      (await company.get(`/api/tasks/company/${company.companyId}/?${query}`)).body as Body & {
        results: { title: string }[];
      };
    const titlesOf = ({ results }: { results: { title: string }[] }) => results.map(({ title }) => title);

    const frequent = await list('q=gear');
    expect(frequent).toMatchObject({ total: 1000, isTotalCapped: true });
    expect(titlesOf(frequent).slice(0, 2)).toEqual(['Gear 2001', 'Gear 2000']);
    expect(titlesOf(await list(`q=gear&cursor=${String(frequent['nextCursor'])}`))[0]).toBe('Gear 1981');
    expect(await list('q=gear&status=done')).toMatchObject({ total: 20, isTotalCapped: false });
    const few = await list('q=BRASS');
    expect(few).toMatchObject({ total: 2, isTotalCapped: false, nextCursor: null });
    expect(titlesOf(few)).toEqual(['Gear 1600 of brass', 'Gear 800 of brass']);
    expect(titlesOf(await list('q=of'))).toEqual(titlesOf(few));
    expect(await list('q=brass&status=todo')).toMatchObject({ total: 0, results: [] });
    expect(await list('q=nowhere')).toMatchObject({ total: 0, results: [], isTotalCapped: false });
    // None of the newest thousand has it, and more than are listed by their numbers do.
    await sql`
      insert into tasks (company_id, project_id, title, owner_id, created_at, updated_at)
      select ${company.companyId}, ${projectId}, 'Wheel ' || n, ${company.employeeId}, now(), now()
      from generate_series(1, 1000) as n`.execute(service.database.db);
    const older = await list('q=gear');
    expect(older).toMatchObject({ total: 1000, isTotalCapped: true });
    expect(titlesOf(older)).toEqual(titlesOf(frequent));
    expect(await list('q=gear&status=done')).toMatchObject({ total: 20, isTotalCapped: false });
    // As many as are listed by their numbers, now that one is deleted.
    await company.delete(`/api/tasks/${(frequent.results[0] as unknown as { _id: number })._id}/`);
    expect(await list('q=gear&page=50')).toMatchObject({ total: 1000, isTotalCapped: true, results: { length: 20 } });
  });

  test('reads the tasks with a part that few of the newest thousand have, and not the whole company', async () => {
    const company = await service.registerCompany();
    const projectId = await startProject(company);
    await sql`
      insert into tasks (company_id, project_id, title, owner_id, created_at, updated_at)
      select ${company.companyId}, ${projectId}, case when n % 20 = 0 then 'Gear' when n % 50 = 1 then 'Zeppelin' else 'Wheel' end,
        ${company.employeeId}, now(), now()
      from generate_series(1, 1000) as n`.execute(service.database.db);
    const { rows } = await sql`
      select cardinality(tasks_titled(${company.companyId}, '%zeppelin%', 2001)) as few,
        tasks_titled(${company.companyId}, '%gear%', 2001) as many`.execute(service.database.owner.db);
    // What is null is looked for from the newest task on.
    expect(rows).toEqual([{ few: 20, many: null }]);
  });

  test('takes the wildcards of q for letters', async () => {
    const company = await service.registerCompany();
    const projectId = await startProject(company);
    for (const title of ['100% brass', '1000 brass', 'under_score', 'underXscore', String.raw`back\slash`, 'ÉTUDE'])
      await add(company, projectId, title);
    expect(await titles(company, { q: '0%' })).toEqual(['100% brass']);
    expect(await titles(company, { q: 'r_s' })).toEqual(['under_score']);
    expect(await titles(company, { q: 'k\\s' })).toEqual([String.raw`back\slash`]);
    expect(await titles(company, { q: 'étu' })).toEqual(['ÉTUDE']);
    expect(await titles(company, { q: "'; drop table tasks; --" })).toEqual([]);
  });

  test('leaves out deleted tasks and those of deleted projects, in its total too', async () => {
    const company = await service.registerCompany();
    const [doomed, spared] = [await startProject(company), await startProject(company)];
    await add(company, doomed, 'Gone with its project');
    const task = await add(company, spared, 'Gone');
    await add(company, spared, 'Left');
    await company.delete(`/api/projects/${doomed}/`);
    await company.delete(`/api/tasks/${task}/`);
    expect(await titles(company)).toEqual(['Left']);
    const answer = await company.get(`/api/tasks/company/${company.companyId}/?projectId=${doomed}`);
    expect(errorOf(answer).issues).toEqual(['projectId']);
  });

  test('refuses filters that name nothing in the company, foreign or absent alike', async () => {
    const foreignProject = await startProject(neighbour);
    for (const [field, value] of [
      ['projectId', foreignProject],
      ['projectId', 999_999],
      ['owner_id', neighbour.employeeId],
      ['owner_id', 999_999],
    ]) {
      const answer = await ada.get(`/api/tasks/company/${ada.companyId}/?${field}=${value}`);
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: [field] });
      expect(answer.body.issues[0].code).toBe('not_found');
    }
    const wrong = await ada.get(`/api/tasks/company/${ada.companyId}/?status=open&q=%20&page=0&projectId=1e3`);
    expect(errorOf(wrong).issues?.toSorted()).toEqual(['page', 'projectId', 'q', 'status']);
    const long = await ada.get(`/api/tasks/company/${ada.companyId}/?q=${'x'.repeat(201)}`);
    expect(errorOf(long).issues).toEqual(['q']);
  });

  test('finds tasks of somebody who has left', async () => {
    const company = await service.registerCompany();
    const leaver = await service.addEmployee(company);
    await add(leaver, await startProject(company), 'Left behind');
    await company.delete(`/api/employees/${leaver.employeeId}/`);
    expect(await titles(company, { owner_id: String(leaver.employeeId) })).toEqual(['Left behind']);
  });

  test('is not found for another company', async () => {
    const foreign = errorOf(await neighbour.get(`/api/tasks/company/${ada.companyId}/`));
    expect(foreign).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await neighbour.get('/api/tasks/company/999999/'))).toEqual(foreign);
  });
});

describe('a list of tasks that is read on by its cursor', () => {
  test('has every task once, whatever the filter, and ends', async () => {
    const company = await service.registerCompany();
    const projectId = await startProject(company);
    for (let made = 1; made <= 45; made += 1)
      await add(company, projectId, `Gear ${made}`, made % 2 ? { status: 'done' } : { dueDate: '2026-03-06' });
    const path = `/api/tasks/company/${company.companyId}/`;
    const readAll = async (query: string): Promise<number[]> => {
      const ids: number[] = [];
      let cursor: string | null = '';
      for (let pages = 0; cursor !== null; pages += 1) {
        expect(pages).toBeLessThan(5);
        const { body } = await company.get(`${path}?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
        ids.push(...body.results.map((task: { _id: number }) => task._id));
        cursor = body.nextCursor;
        await add(company, projectId, 'Gear between the pages', { status: 'done' });
      }
      return ids;
    };
    for (const [query, count] of [
      ['q=gear', 45],
      ['', 48],
      ['status=done', 29],
      ['dueBy=2026-03-06', 22],
    ] as const) {
      const ids = await readAll(query);
      expect([query, new Set(ids).size, ids.length]).toEqual([query, count, count]);
      expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    }
    expect((await company.get(`${path}?cursor=x`)).body.issues[0].path).toEqual(['cursor']);
  });

  test('counts up to a thousand matches of q, and goes on after them', async () => {
    const company = await service.registerCompany();
    const projectId = await startProject(company);
    const path = `/api/tasks/company/${company.companyId}/?q=cog`;
    const insert = (count: number) =>
      service.database.owner.db
        .insertInto('tasks')
        .columns(['company_id', 'project_id', 'title', 'owner_id', 'created_at', 'updated_at'])
        .expression((eb) =>
          eb
            .selectFrom(sql`generate_series(1, ${count}::integer)`.as('n'))
            .select([
              sql<number>`${company.companyId}::bigint`.as('c'),
              sql<number>`${projectId}::bigint`.as('p'),
              sql<string>`'Cog'`.as('t'),
              sql<number>`${company.employeeId}::bigint`.as('o'),
              sql<Date>`now()`.as('at'),
              sql<Date>`now()`.as('at_too'),
            ]),
        )
        .execute();
    await insert(1_000);
    expect((await company.get(path)).body).toMatchObject({ total: 1_000, totalPages: 50, isTotalCapped: false });
    await insert(1_100);
    const { body } = await company.get(path);
    expect(body).toMatchObject({ total: 1_000, totalPages: 50, isTotalCapped: true });
    expect((await company.get(`${path}&page=100`)).body.results).toHaveLength(20);
    const hundredth = (await company.get(`${path}&page=100`)).body;
    expect((await company.get(`${path}&page=101`)).body).toMatchObject({ results: [], page: 101, total: 1_000 });
    const beyond = (await company.get(`${path}&cursor=${hundredth.nextCursor}`)).body;
    expect(beyond.results).toHaveLength(20);
    expect(beyond.results[0]._id).toBe(hundredth.results.at(-1)._id - 1);
    expect((await company.get(`/api/tasks/company/${company.companyId}/`)).body).toMatchObject({
      total: 2_100,
      totalPages: 105,
      isTotalCapped: false,
    });
  });
});
