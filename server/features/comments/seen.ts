import pLimit, { type LimitFunction } from 'p-limit';
import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { appendEvents } from '../../kernel/append-event.ts';
import type { Services } from '../../kernel/context.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { retryLost } from '../../kernel/retry-lost.ts';
import { streamOf } from './task-stream.ts';

/*
 * Views of comments are stored after the answer, and collected by task: while one transaction of a task runs, the views
 * of all its readers wait in memory for the next one. So 64 readers of one chat hold one connection and one lock of its
 * stream, not 64, and a reader who reads again before that adds nothing.
 */

type View = { viewerId: number; commentId: number; at: Date };
/** The unstored views of a task, by viewer and comment. */
type Task = { companyId: number; taskId: number; views: Map<string, View> };
type Unstored = { tasks: Map<string, Task>; limit: LimitFunction };

/** The most concurrent transactions of all tasks: views may wait, requests may not. */
const transactionsAtOnce = 2;
/** The most views that one transaction stores. */
const viewsMax = 1_000;

const unstoredBy = new WeakMap<Services['background'], Unstored>();

function unstoredOf({ background }: Services): Unstored {
  let unstored = unstoredBy.get(background);
  if (!unstored) unstoredBy.set(background, (unstored = { tasks: new Map(), limit: pLimit(transactionsAtOnce) }));
  return unstored;
}

/** Enqueues in memory that an employee has seen comments of a task. */
export function markSeen(
  services: Services,
  { companyId, taskId, viewerId }: { companyId: number; taskId: number; viewerId: number },
  commentIds: readonly number[],
): void {
  if (commentIds.length === 0) return;
  const { tasks, limit } = unstoredOf(services);
  const key = `${companyId} ${taskId}`;
  const known = tasks.get(key);
  const task = known ?? { companyId, taskId, views: new Map<string, View>() };
  const at = services.clock.now();
  for (const commentId of commentIds) {
    const view = `${viewerId} ${commentId}`;
    if (!task.views.has(view)) task.views.set(view, { viewerId, commentId, at });
  }
  if (known) return;
  tasks.set(key, task);
  services.background.run('comments-seen', async () => {
    try {
      while (task.views.size > 0) await limit(() => storeNext(services, task));
    } finally {
      tasks.delete(key);
    }
  });
}

async function storeNext(services: Services, { companyId, taskId, views }: Task): Promise<void> {
  const next = [...views].slice(0, viewsMax);
  for (const [view] of next) views.delete(view);
  const taken = next.map(([, view]) => view);
  await retryLost(services, () => storeViews(services, { companyId, taskId }, taken));
}

async function storeViews(
  services: Services,
  { companyId, taskId }: { companyId: number; taskId: number },
  views: View[],
): Promise<void> {
  await inTransaction(services, companyId, async (db) => {
    const stored = await insertViews(db, companyId, views);
    const stream = streamOf(taskId);
    const events = [...Map.groupBy(stored, (one) => one.employee_id)].map(([employee_id, own]) => ({
      stream,
      type: 'comment.seen',
      payload: {
        comment_ids: own.map((one) => one.comment_id).toSorted((a, b) => a - b),
        task_id: taskId,
        employee_id,
      },
      at: own[0]!.seen_at,
    }));
    if (events.length > 0) await appendEvents(db, companyId, events);
  });
}

type ViewRow = { comment_id: number; employee_id: number; seen_at: Date };

/**
 * Stores views; earlier ones keep their time. Returns the new ones. Locks replies before what they answer, as deletions
 * do, so that they cannot deadlock.
 */
export async function insertViews(db: Db, companyId: number, views: View[]): Promise<ViewRow[]> {
  const { rows } = await sql<ViewRow>`
    insert into comment_views (company_id, comment_id, employee_id, seen_at)
    select c.company_id, c.comment_id, v.employee_id, v.at
    from unnest(
      ${views.map((one) => one.commentId)}::bigint[], ${views.map((one) => one.viewerId)}::bigint[],
      ${views.map((one) => one.at)}::timestamptz[]
    ) as v (comment_id, employee_id, at)
    join comments as c on c.company_id = ${companyId} and c.comment_id = v.comment_id
    order by c.comment_id desc, v.employee_id
    for key share of c
    on conflict do nothing
    returning comment_id, employee_id, seen_at`.execute(db);
  return rows;
}
