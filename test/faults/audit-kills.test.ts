import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openEmbedded, openServer } from '../../db/open.ts';
import { createCaller, type Caller } from '../support/actor.ts';
import { asOneOfSeveral, endAllProcesses, makeHome, startProcess, type Home } from '../support/process.ts';

/* A process that is killed while it writes leaves exactly one row of the audit log for each change that it has committed. */

const kills = Number(process.env['TEST_AUDIT_KILLS'] ?? 3);
const writers = 8;
/** Then as many calls as there are writers are under way, and nobody knows of them whether they were committed. */
const answersPerKill = 60;

let home: Home;
beforeAll(async () => {
  home = await makeHome();
});
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

type Call = { method: 'post' | 'patch' | 'delete'; path: string; body?: object };

let answers = 0;

/** Projects, tasks and logs are made, changed and deleted until the process is gone. */
async function writeUntilGone(caller: Caller, employeeId: number, isGone: () => boolean): Promise<void> {
  const send = async ({ method, path, body }: Call): Promise<number | undefined> => {
    const answer = await caller[method](path, body).catch(() => undefined);
    if (answer?.status !== 200) return undefined;
    answers += 1;
    return answer.body._id as number;
  };
  while (!isGone()) {
    const projectId = await send({ method: 'post', path: '/api/projects/', body: { name: 'Killed' } });
    if (projectId === undefined) continue;
    const taskId = await send({ method: 'post', path: '/api/tasks/', body: { projectId, title: 'Killed' } });
    if (taskId === undefined) continue;
    const times = { start_time: '2026-03-02T08:00:00Z', end_time: '2026-03-02T08:30:00Z' };
    const log = { task_id: taskId, employee_id: employeeId, ...times };
    await send({ method: 'post', path: '/tasklog/create/', body: log });
    await send({ method: 'patch', path: `/api/tasks/${taskId}/`, body: { status: 'done' } });
    if (answers % 3 === 0) await send({ method: 'delete', path: `/api/projects/${projectId}/` });
  }
}

test(
  'every change that was committed has exactly one row, and nothing else has one',
  { timeout: 240_000 },
  async () => {
    for (let kill = 0; kill < kills; kill += 1) {
      const service = await startProcess({ ...home.environment, ...asOneOfSeveral, SEED_DEMO: 'true' });
      const demo = JSON.parse(await readFile(join(home.folder, 'demo-sign-in.json'), 'utf8')) as object;
      const { body } = await createCaller(service.url).post('/login/', demo);
      let isGone = false;
      const caller = createCaller(service.url, body);
      const writing = Array.from({ length: writers }, () => writeUntilGone(caller, body.employee._id, () => isGone));
      const enough = answers + answersPerKill;
      await vi.waitUntil(() => answers >= enough, { timeout: 60_000, interval: 5 });
      service.signal('SIGKILL');
      await service.ended;
      isGone = true;
      await Promise.all(writing);
    }
    const database =
      home.databaseUrl === undefined ? await openEmbedded({ folder: home.folder }) : openServer(home.databaseUrl);
    const { db } = database;
    // The demo company was made without operations, so things of before the first sign-in have no rows.
    const { rows: differences } = await sql<{ kind: string; id: number; things: number; rows: number }>`
    with since as (select min(at) as at from audit_log), changes as (
      select c ->> 'event' as event, (c ->> 'id')::bigint as id, a.subject_kind as kind
      from audit_log as a cross join jsonb_array_elements(a.changes) as c where a.result = 'done'
    ), expected as (
      select 'project.created' as event, project_id as id from projects, since where created_at > since.at
      union all select 'project.deleted', project_id from projects where deleted_at is not null
      union all select 'task.created', task_id from tasks, since where created_at > since.at
      union all select 'task.updated', task_id from tasks, since where created_at > since.at and status = 'done'
      union all select 'task_log.created', task_log_id from task_logs, since where created_at > since.at
    ), counted as (
      select event, id, count(*) as rows from changes
      where event = any(array['project.created', 'project.deleted', 'task.created', 'task.updated', 'task_log.created'])
      group by event, id
    )
    select coalesce(e.event, k.event) as kind, coalesce(e.id, k.id) as id, (e.id is not null)::integer as things,
      coalesce(k.rows, 0) as rows
    from expected as e full join counted as k on k.event = e.event and k.id = e.id
    where e.id is null or k.rows is distinct from 1`.execute(db);
    const { rows: total } = await sql<{ rows: number }>`
    select count(*) as rows from audit_log where operation <> 'auth.login' and result = 'done'`.execute(db);
    await database.close();
    expect(differences).toEqual([]);
    // Of what was under way at a kill some was committed, and its answer was lost.
    expect(total[0]!.rows).toBeGreaterThanOrEqual(answers);
  },
);
