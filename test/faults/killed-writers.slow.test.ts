import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer } from '../../db/open.ts';
import { createCaller, type Caller } from '../support/actor.ts';
import { asOneOfSeveral, endAllProcesses, makeHome, startProcess, type ServiceProcess } from '../support/process.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { waitUntil } from '../support/waiting.ts';

/*
 * A process is killed again and again while it writes. Of each change that it has committed the audit log has exactly one row, and
 * each of three receivers of webhooks has it at least once and always under the same identifier, although one of them fails half
 * the time.
 */

const kills = Number(process.env['TEST_KILLS'] ?? 3);
const writers = 8;
/** At a kill as many calls as there are writers are under way, and nobody knows of them whether they were committed. */
const answersPerKill = { min: 30, max: 90 };
const timeout = 120_000 + kills * 30_000;

const events = ['project.created', 'project.deleted', 'task.created', 'task.updated', 'task_log.created'] as const;
const subjectOf: Record<(typeof events)[number], string> = {
  'project.created': 'projectId',
  'project.deleted': 'projectId',
  'task.created': 'taskId',
  'task.updated': 'taskId',
  'task_log.created': 'taskLogId',
};

const home = await makeHome();
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

type Me = Caller & { employeeId: number };
type Call = { method: 'post' | 'patch' | 'delete'; path: string; body?: object };

const settings = { SEED_DEMO: 'true', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1', RATE_LIMIT_PER_MINUTE: '100000' };
const start = () => startProcess({ ...home.environment, ...asOneOfSeveral, ...settings });

async function signIn({ url }: ServiceProcess): Promise<Me> {
  const demo = JSON.parse(await readFile(join(home.folder, 'demo-sign-in.json'), 'utf8')) as object;
  const { status, body } = await createCaller(url).post('/login/', demo);
  expect(status).toBe(200);
  return { ...createCaller(url, body), employeeId: body.employee._id };
}

let answers = 0;

/** Projects, tasks and logs are made, changed and deleted until the process is gone. */
async function writeUntilGone(me: Me, isGone: () => boolean): Promise<void> {
  const send = async ({ method, path, body }: Call): Promise<number | undefined> => {
    const answer = await me[method](path, body).catch(() => undefined);
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
    const log = { task_id: taskId, employee_id: me.employeeId, ...times };
    await send({ method: 'post', path: '/tasklog/create/', body: log });
    await send({ method: 'patch', path: `/api/tasks/${taskId}/`, body: { status: 'done' } });
    if (answers % 3 === 0) await send({ method: 'delete', path: `/api/projects/${projectId}/` });
  }
}

/** The identifiers under which a receiver was told of each change. */
function changesIn({ received }: Receiver): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { body, id } of received) {
    const change = `${body.type} ${body.data[subjectOf[body.type as (typeof events)[number]]]}`;
    found.set(change, (found.get(change) ?? new Set()).add(id));
  }
  return found;
}

type Delivery = { _id: number; state: string; attempts: unknown[] };

/** What an admin does about messages that failed and wait for minutes: has them sent again. Returns how many are pending. */
async function resendPending(me: Me, webhookId: number): Promise<number> {
  let count = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '' : `?cursor=${cursor}`;
    const { body } = await me.get(`/api/webhooks/${webhookId}/deliveries/${query}`);
    const pending = (body.deliveries as Delivery[]).filter(({ state }) => state === 'pending');
    const failed = pending.filter(({ attempts }) => attempts.length > 0);
    await Promise.all(failed.map(({ _id }) => me.post(`/api/webhook-deliveries/${_id}/resend/`)));
    count += pending.length;
    cursor = body.nextCursor;
  }
  return count;
}

/** What the rows of the audit log say that was changed, one by one. */
async function readAudit() {
  const database =
    home.databaseUrl === undefined ? await openEmbedded({ folder: home.folder }) : openServer(home.databaseUrl);
  const { db } = database;
  const { rows: changes } = await sql<{ event: string; id: number }>`
    select c ->> 'event' as event, (c ->> 'id')::bigint as id
    from audit_log as a cross join jsonb_array_elements(a.changes) as c
    where a.result = 'done' and c ->> 'event' = any(${events}::text[])`.execute(db);
  // The demo company was made without operations, so things of before the first sign-in have no rows.
  const { rows: committed } = await sql<{ event: string; id: number }>`
    with since as (select min(at) as at from audit_log)
    select 'project.created' as event, project_id as id from projects, since where created_at > since.at
    union all select 'project.deleted', project_id from projects where deleted_at is not null
    union all select 'task.created', task_id from tasks, since where created_at > since.at
    union all select 'task.updated', task_id from tasks, since where created_at > since.at and status = 'done'
    union all select 'task_log.created', task_log_id from task_logs, since where created_at > since.at`.execute(db);
  await database.close();
  const names = (rows: { event: string; id: number }[]) => rows.map(({ event, id }) => `${event} ${id}`).toSorted();
  return { audited: names(changes), committed: names(committed) };
}

test('each committed change is audited once and reaches every receiver under one identifier', { timeout }, async () => {
  const receivers = await Promise.all([
    startReceiver(),
    startReceiver((_, response) => setTimeout(() => void response.writeHead(200).end('taken'), 20)),
    startReceiver((_, response) => void response.writeHead(Math.random() < 0.5 ? 500 : 204).end()),
  ]);
  let service = await start();
  let me = await signIn(service);
  const webhookIds: number[] = [];
  for (const { url } of receivers) webhookIds.push((await me.post('/api/webhooks/', { url, events })).body._id);

  for (let kill = 0; kill < kills; kill += 1) {
    let isGone = false;
    const caller = me;
    const writing = Array.from({ length: writers }, () => writeUntilGone(caller, () => isGone));
    const enough = answers + answersPerKill.min + Math.random() * (answersPerKill.max - answersPerKill.min);
    await waitUntil(() => answers >= enough, { timeout: 60_000 });
    service.signal('SIGKILL');
    await service.ended;
    isGone = true;
    await Promise.all(writing);
    service = await start();
    me = await signIn(service);
  }

  // The embedded database can be read only when the process has ended.
  await waitUntil(
    async () => {
      const pending = await Promise.all(webhookIds.map((webhookId) => resendPending(me, webhookId)));
      return pending.every((count) => count === 0);
    },
    { timeout: 90_000 + kills * 10_000, interval: 500 },
  );
  service.signal('SIGTERM');
  await service.ended;

  const { audited, committed } = await readAudit();
  expect(audited).toEqual(committed);
  // Of what was under way at a kill some was committed, and its answer was lost.
  expect(committed.length).toBeGreaterThanOrEqual(answers);
  for (const receiver of receivers) {
    const changes = changesIn(receiver);
    expect([...changes.keys()].toSorted()).toEqual(committed);
    expect([...changes].filter(([, ids]) => ids.size !== 1)).toEqual([]);
  }
});
