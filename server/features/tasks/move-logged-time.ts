import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { addLoggedTime } from '../task-logs/allocation.ts';

/**
 * Takes the time logged on a task along into another project, and settles both allocations. The task must be locked
 * to be changed: whoever logs on it waits, so no log is left behind.
 */
export async function moveLoggedTime(
  db: Db,
  move: { companyId: number; taskId: number; from: number; to: number; now: Date },
): Promise<void> {
  const { companyId, taskId, from, to, now } = move;
  const { rows } = await sql<{ seconds: number }>`
    with moved as (
      update task_logs set project_id = ${to}, updated_at = ${now}
      where company_id = ${companyId} and task_id = ${taskId}
      returning duration_seconds
    )
    select coalesce(sum(duration_seconds), 0)::bigint as seconds from moved`.execute(db);
  const { seconds } = rows[0]!;
  const changes = new Map([
    [from, -seconds],
    [to, seconds],
  ]);
  await addLoggedTime(db, { companyId, changes, now });
}
