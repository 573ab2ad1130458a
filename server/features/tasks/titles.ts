import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely';
import { anywhere, hasTrigram } from '../../../db/pipeline/anywhere.ts';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';

/** So many tasks are read by their numbers; where more have a part, some are met soon by reading from the newest on. */
const listedMax = 2_000;
/** A part that the index does not have is looked for in so many of the newest tasks. */
export const newestSearched = 20_000;

/** How a part of titles leads to tasks, so that the cost does not grow with the tasks of a company. */
export type Titled =
  /** These are all tasks whose title has it. */
  | { by: 'number'; taskIds: number[] }
  /** Many have it; `atLeast` is known without counting. */
  | { by: 'title'; atLeast: number }
  /** It is looked for in tasks from this number on. */
  | { by: 'newest'; from: number };

export async function findTitled(db: Db, companyId: number, q: string): Promise<Titled> {
  if (!hasTrigram(q)) return { by: 'newest', from: await findOldestSearched(db, companyId) };
  const { rows } = await sql<{ taskIds: number[] | null }>`
    select tasks_titled(${companyId}, lower(${anywhere(q)}), ${listedMax + 1}) as "taskIds"`.execute(db);
  const { taskIds } = rows[0]!;
  if (taskIds === null) return { by: 'title', atLeast: 0 };
  return taskIds.length > listedMax ? { by: 'title', atLeast: taskIds.length } : { by: 'number', taskIds };
}

async function findOldestSearched(db: Db, companyId: number): Promise<number> {
  const oldest = await db
    .selectFrom('tasks')
    .where('company_id', '=', companyId)
    .select('task_id')
    .orderBy('task_id', 'desc')
    .offset(newestSearched - 1)
    .limit(1)
    .executeTakeFirst();
  return oldest?.task_id ?? 0;
}

/** Whether a task is among those that {@link findTitled} leads to. */
export function hasTitle(
  eb: ExpressionBuilder<{ t: Schema['tasks'] }, 't'>,
  titled: Titled,
  q: string,
): Expression<SqlBool> {
  if (titled.by === 'number') return eb('t.task_id', '=', eb.fn.any(eb.val(titled.taskIds)));
  // Written so that the index over titles does not match: it would read all tasks with a frequent part before the newest is known.
  const isTitled = sql<SqlBool>`lower(t.title) || '' like lower(${anywhere(q)})`;
  return titled.by === 'title' ? isTitled : eb.and([isTitled, eb('t.task_id', '>=', titled.from)]);
}
