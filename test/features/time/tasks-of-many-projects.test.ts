import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Db } from '../../../db/open.ts';
import { listTargets } from '../../../server/features/csv-imports/queries.ts';
import { lockVisibleTasks } from '../../../server/features/tasks/queries.ts';
import { startService } from '../../support/service.ts';

/* Time on many tasks of many projects, in a database whose tables were not analysed yet. */

const service = await startService();
const tasks = 2_000;
const projects = 200;

const ways: Record<string, (db: Db, companyId: number, taskIds: number[]) => Promise<unknown>> = {
  'an import finds them': listTargets,
  'a bulk locks them': lockVisibleTasks,
};

test.each(Object.entries(ways))('%s without comparing each task with each project', async (_way, read) => {
  const { companyId, employeeId } = await service.registerCompany();
  const transaction = service.database.begin();
  onTestFinished(() => transaction.rollback());
  const { db } = transaction;
  const { rows } = await sql<{ task_id: number }>`
    with made as (
      insert into projects (company_id, name, owner_id, status, created_at, updated_at)
      select ${companyId}, 'Project ' || n, ${employeeId}, 'active', now(), now() from generate_series(1, ${projects}::integer) as n
      returning project_id
    )
    insert into tasks (company_id, project_id, title, owner_id, created_at, updated_at)
    select ${companyId}, project_id, 'Task ' || n, ${employeeId}, now(), now()
    from made, generate_series(1, ${tasks / projects}::integer) as n returning task_id`.execute(db);
  const before = await countRead(db);
  const found = await read(
    db,
    companyId,
    rows.map((row) => row.task_id),
  );
  expect(found).toHaveLength(tasks);
  expect((await countRead(db)) - before).toBeLessThanOrEqual(2 * tasks);
});

/** The rows of projects that this transaction has read. */
async function countRead(db: Db): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read
    from pg_stat_xact_user_tables where relname = 'projects'`.execute(db);
  return rows[0]!.read;
}
