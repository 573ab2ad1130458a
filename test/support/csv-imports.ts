import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Actor, Answer } from './actor.ts';
import type { Service } from './service.ts';

/* What tests of imports share: the calls, and files as the sources write them. */

/** A file of test/features/time/csv-imports/, whose people are Ada Lovelace, the admin, and grace@example.com. */
export const sampleFile = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../features/time/csv-imports/${name}`, import.meta.url)), 'utf8');

export type ImportInput = Record<string, unknown>;

/** Imports a file of Toggl in UTC, unless the input says otherwise. */
export const importCsv = (actor: Actor, csv: string, input: ImportInput = {}): Promise<Answer> =>
  actor.post('/api/imports/csv/', {
    source: 'toggl',
    csv,
    time_zone: 'UTC',
    date_order: 'YMD',
    dry_run: false,
    ...input,
  });

const head = 'User,Email,Client,Project,Task,Description,Billable,Start date,Start time,End date,End time,Duration';

/** Rows of Toggl under their first line: an hour of somebody, with what a test changes. */
export function togglFile(email: string, rows: readonly Record<string, string>[]): string {
  const usual: Record<string, string> = {
    User: '',
    Email: email,
    Client: '',
    Project: 'Engine',
    Task: 'Mill',
    Description: '',
    Billable: 'Yes',
    'Start date': '2026-03-02',
    'Start time': '09:00:00',
    'End date': '2026-03-02',
    'End time': '10:00:00',
    Duration: '',
  };
  const lines = rows.map((row) =>
    Object.entries(usual)
      .map(([name, value]) => `"${row[name] ?? value}"`)
      .join(','),
  );
  return `${[head, ...lines].join('\r\n')}\r\n`;
}

/** Everything that an import may change, as the database has it. */
export async function readWork({ database }: Service, { companyId }: Actor) {
  const { db } = database;
  const projects = await db
    .selectFrom('projects')
    .where('company_id', '=', companyId)
    .where('deleted_at', 'is', null)
    .select(['project_id', 'name', 'owner_id', 'logged_seconds'])
    .orderBy('project_id')
    .execute();
  const tasks = await db
    .selectFrom('tasks')
    .where('company_id', '=', companyId)
    .where('deleted_at', 'is', null)
    .selectAll()
    .orderBy('task_id')
    .execute();
  const logs = await db
    .selectFrom('task_logs')
    .where('company_id', '=', companyId)
    .selectAll()
    .orderBy('start_time')
    .orderBy('task_log_id')
    .execute();
  return { projects, tasks, logs };
}
