import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import type { Timer } from './schemas.ts';

/** Named one by one: a statement that returns every column fails on nodes that run while a column is added. */
const timerColumns = ['company_id', 'employee_id', 'task_id', 'start_time', 'description'] as const;
export type TimerRow = Pick<Selectable<Schema['timers']>, (typeof timerColumns)[number]>;

export async function findTimer(db: Db, companyId: number, employeeId: number): Promise<TimerRow | undefined> {
  return db
    .selectFrom('timers')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .select(timerColumns)
    .executeTakeFirst();
}

/** Waits for the end of a stop of the timer of an employee. */
export async function lockTimer(db: Db, companyId: number, employeeId: number): Promise<void> {
  await db
    .selectFrom('timers')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .select('employee_id')
    .forUpdate()
    .execute();
}

/** Starts a timer if none runs; returns whether it did. Of concurrent calls one succeeds. */
export async function insertTimer(db: Db, timer: TimerRow): Promise<boolean> {
  const made = await db
    .insertInto('timers')
    .values(timer)
    .onConflict((conflict) => conflict.doNothing())
    .returning('employee_id')
    .executeTakeFirst();
  return made !== undefined;
}

/**
 * Deletes a timer and returns it, to be logged: of concurrent callers one gets it. With `startedBy`, only a timer that
 * was started by then.
 */
export async function takeTimer(
  db: Db,
  { companyId, employeeId, startedBy }: { companyId: number; employeeId: number; startedBy?: Date },
): Promise<TimerRow | undefined> {
  return db
    .deleteFrom('timers')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .$if(startedBy !== undefined, (query) => query.where('start_time', '<=', startedBy!))
    .returning(timerColumns)
    .executeTakeFirst();
}

export function toTimer(row: TimerRow): z.input<typeof Timer> {
  return {
    taskId: row.task_id,
    userId: row.employee_id,
    startTime: row.start_time,
    description: row.description,
  };
}
