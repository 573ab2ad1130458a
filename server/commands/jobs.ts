import type { Database } from '../../db/open.ts';
import { BadUsage, readRequest, shown, usage, type Request } from './support/jobs-request.ts';
import {
  discardJobs,
  findJobStatus,
  listJobs,
  requeueJobs,
  type DeadLettered,
  type JobState,
  type ListedJob,
  type Selection,
} from '../jobs/pending-jobs.ts';
import { attemptsMax } from '../jobs/retry.ts';
import { readDatabaseTime } from '../platform/database-clock.ts';
import { print, runOnDatabase } from './support/operator-command.ts';

/*
 * For operators: lists, requeues and discards pending and dead-lettered jobs. Exits with 0 on success, with 1 if a job does not
 * exist or something failed, with 2 on bad usage.
 */

/** The most jobs that are named after an act. */
const namedMax = 20;

const moment = (at: Date): string => at.toISOString().replace(/\.\d+/, '');
const counted = (count: number): string => (count === 1 ? '1 job' : `${count} jobs`);
const named = (ids: readonly number[]): string =>
  ids.slice(0, namedMax).join(', ') + (ids.length > namedMax ? ', …' : '');

/** The identifiers and addresses in a payload. A payload holds no secret. */
function subjectOf(payload: unknown): string {
  const entries = Object.entries((payload ?? {}) as Record<string, unknown>);
  const parts = entries.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return shown(parts.join(', '));
}

function show({ id, handler, payload, state, attempts, ...job }: ListedJob): void {
  const status = {
    'dead-lettered': () => `dead-lettered ${moment(job.dead_lettered_at!)}`,
    running: () => 'running',
    pending: () => `pending, due ${moment(job.due_at)}`,
  }[state]();
  print(`${id}  ${shown(handler)}  ${status}`);
  print(`    about    ${subjectOf(payload)}`);
  print(`    created  ${moment(job.created_at)}, ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}`);
  if (job.last_error !== null) print(`    error    ${shown(job.last_error)}`);
}

async function list({ db }: Database, states: JobState[]): Promise<boolean> {
  const counts = { 'dead-lettered': 0, pending: 0, running: 0 };
  for await (const job of listJobs(db, states, await readDatabaseTime(db))) {
    counts[job.state] += 1;
    show(job);
  }
  const totals = { ...counts, pending: counts.pending + counts.running };
  print(`${states.map((state) => `${totals[state]} ${state}`).join(', ')}.`);
  if (counts['dead-lettered'] > 0)
    print('Once the cause is repaired: npm run jobs -- requeue --all, or with their numbers; discard deletes them.');
  return true;
}

async function requeue({ db, kind }: Database, selection: Selection): Promise<boolean> {
  const now = await readDatabaseTime(db);
  const requeued = await requeueJobs(db, selection, now);
  if (typeof selection !== 'object' && requeued.length === 0)
    print(selection === 'dead-lettered' ? 'No job is dead-lettered.' : 'No job waits for a retry.');
  const missing = typeof selection === 'object' ? selection.ids.filter((id) => !requeued.includes(id)) : [];
  for (const id of missing) print(`${id}: ${whyNotRequeued(await findJobStatus(db, id, now))}`);
  if (requeued.length > 0) {
    print(`${counted(requeued.length)} requeued: ${named(requeued)}.`);
    const who =
      kind === 'embedded' ? 'The service runs them when it is started' : 'A running service runs them at once';
    print(`${who}, each with ${attemptsMax} attempts. Codes and links that have expired are dropped, not sent.`);
  }
  return missing.length === 0;
}

async function discard({ db }: Database, selection: DeadLettered): Promise<boolean> {
  const discarded = await discardJobs(db, selection);
  if (selection === 'dead-lettered' && discarded.length === 0) print('No job is dead-lettered.');
  const missing = selection === 'dead-lettered' ? [] : selection.ids.filter((id) => !discarded.includes(id));
  for (const id of missing) print(`${id}: is not dead-lettered, so it was left alone.`);
  if (discarded.length > 0) print(`${counted(discarded.length)} discarded: ${named(discarded)}.`);
  return missing.length === 0;
}

function whyNotRequeued(status: Awaited<ReturnType<typeof findJobStatus>>): string {
  if (!status) return 'there is no such job. It may be done: a job is deleted when it succeeds.';
  if (status.isRunning) return 'is running, so it was left alone.';
  return `has not been attempted and needs no help; it is due ${moment(status.due_at)}.`;
}

function readArguments(): Request | undefined {
  try {
    const request = readRequest(process.argv.slice(2));
    if (request !== 'help') return request;
    print(usage);
  } catch (error) {
    if (!(error instanceof BadUsage)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}\n`);
    process.exitCode = 2;
  }
  return undefined;
}

function run(database: Database, request: Request): Promise<boolean> {
  if (request.command === 'list') return list(database, request.states);
  return request.command === 'requeue' ? requeue(database, request.selection) : discard(database, request.selection);
}

const request = readArguments();
if (request) await runOnDatabase(process.env, (database) => run(database, request));
