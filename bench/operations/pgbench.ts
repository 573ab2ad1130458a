import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../support/cluster.ts';
import type { Bed } from '../support/database.ts';
import * as logs from './floor/log-statements.ts';
import * as sql from './floor/statements.ts';
import { pinned, type Pinning } from '../support/machine.ts';
import type { Options } from './options.ts';
import type { World } from '../support/world.ts';

/** Calls a second of the database alone, by operation; a word where they could not be measured. */
export type DatabaseResult = Record<string, number> | string;

/** The statement with its parameters as pgbench writes them. */
const filled = (statement: string, ...values: (string | number)[]): string =>
  `${statement.replaceAll(/\$(\d)/g, (_, n) => String(values[Number(n) - 1]))};`;

/** What a floor sends for each operation, as pgbench's scripts. A bulk and a login are not only SQL. */
function scriptsOf(world: World): Record<string, string> {
  const { companyId, employeeId, callers, tasks, talkedOn, employees } = world;
  const random = (name: string, first: number, count: number) => `\\set ${name} random(${first}, ${first + count - 1})`;
  const caller = random('caller', employeeId, callers.length);
  const start = `(timestamptz '2026-01-01' + :begun::float8 * interval '1 millisecond')`;
  const end = `(${start} + interval '25 minutes')`;
  const withResult = (statement: string) => statement.replace(/;$/, ' \\gset');
  const payload = `json_build_object('comment_id', :comment_id::bigint, 'task_id', :task::bigint)`;
  return {
    'list-comments': [
      random('task', talkedOn.first, talkedOn.count),
      filled(sql.listComments, companyId, ':task'),
    ].join('\n'),
    'create-comment': [
      random('task', tasks.first + talkedOn.count, tasks.count - talkedOn.count),
      caller,
      'begin;',
      filled(sql.findTask, companyId, ':task'),
      filled(sql.findPerson, companyId, ':caller'),
      withResult(
        filled(sql.insertComment, companyId, ':task', ':caller', `'<p>Ready for <b>review</b>: the mill turns.</p>'`),
      ),
      filled(sql.enqueueJob, `'comment-created ' || :comment_id::text`, payload),
      filled(sql.appendEvent, companyId, `'task ' || :task::text`, `'comment.created'`, payload),
      'commit;',
    ].join('\n'),
    'create-log': [
      random('task', tasks.first, tasks.count),
      random('employee', employees.first, 500),
      random('begun', 0, 300 * 24 * 3600 * 1000),
      'begin;',
      withResult(filled(logs.lockTask, companyId, ':task')),
      filled(logs.insertLog, companyId, ':task', ':employee', ':project_id', start, end, `'Cut the gears'`),
      'commit;',
    ].join('\n'),
    notifications: [
      filled(sql.listNotifications, companyId, employeeId),
      filled(sql.countNotifications, companyId, employeeId),
    ].join('\n'),
    'unread-count': [caller, filled(sql.countUnread, companyId, ':caller')].join('\n'),
    search: filled(sql.searchEmployees, companyId, `'%grace%'`, `'%hop%'`, `'grace hop'`),
    me: [caller, filled(sql.findEmployee, companyId, ':caller')].join('\n'),
  };
}

export async function measureDatabase(
  bed: Bed,
  options: Options,
  pinning: Pinning,
  report: (what: string) => void,
): Promise<DatabaseResult> {
  const program = findProgram('pgbench');
  if (program === undefined) return 'pgbench is not installed (Debian: postgresql-contrib)';
  const folder = mkdtempSync(join(tmpdir(), 'wms-pgbench-'));
  const measured: Record<string, number> = {};
  try {
    for (const [operation, script] of Object.entries(scriptsOf(bed.world))) {
      if (!options.operations.includes(operation)) continue;
      report(`${operation}: the database alone`);
      const file = join(folder, `${operation}.sql`);
      writeFileSync(file, script);
      const seconds = Math.max(2, Math.ceil(options.seconds));
      const run = ['-n', '-M', 'prepared', '-c', '10', '-T', String(seconds), '-f', file, bed.url];
      const [command, ...parameters] = pinned(pinning?.server, [program, ...run]);
      const child = spawn(command!, parameters, { stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
      const ended = once(child, 'close');
      if (pinning) {
        await new Promise((soon) => setTimeout(soon, 200));
        await bed.pinTo(pinning.database);
      }
      await ended;
      const perSecond = /tps = ([\d.]+) \(without/.exec(said)?.[1];
      if (perSecond === undefined) return `pgbench failed at ${operation}: ${said.trim().split('\n').at(-1)}`;
      measured[operation] = Number(perSecond);
    }
    return measured;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
