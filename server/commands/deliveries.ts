import type { Database } from '../../db/open.ts';
import { BadUsage, readRequest, shown, usage, type Request } from '../deliveries-request.ts';
import { findStanding, listOwed, requeue, type Owed, type Selection, type Which } from '../delivery/owed.ts';
import { triesMax } from '../delivery/retry.ts';
import { print, runOnDatabase } from '../operator-command.ts';

/*
 * For operators: what mail and notifications the service owes, and what of it was given up. Exits with 0 when it did what
 * it was asked to, with 1 where there is no such delivery or something failed, with 2 where it was asked wrongly.
 */

/** Of what was requeued, so many are named. */
const namedMax = 20;

const moment = (at: Date): string => at.toISOString().replace(/\.\d+/, '');
const counted = (count: number): string => (count === 1 ? '1 delivery' : `${count} deliveries`);

/** What a delivery is about: identifiers and addresses. A payload holds no secret. */
function subjectOf(payload: unknown): string {
  const entries = Object.entries((payload ?? {}) as Record<string, unknown>);
  const parts = entries.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return shown(parts.join(', '));
}

function show({ id, reaction, payload, state, tries, created_at, due_at, parked_at, last_error }: Owed): void {
  const standing = {
    parked: () => `parked ${moment(parked_at!)}`,
    running: () => 'being run now',
    waiting: () => `waits for its try at ${moment(due_at)}`,
  }[state]();
  print(`${id}  ${shown(reaction)}  ${standing}`);
  print(`    about    ${subjectOf(payload)}`);
  print(`    created  ${moment(created_at)}, tried ${tries === 1 ? 'once' : `${tries} times`}`);
  if (last_error !== null) print(`    error    ${shown(last_error)}`);
}

async function list({ db }: Database, which: Which[]): Promise<boolean> {
  const counts = { parked: 0, waiting: 0, running: 0 };
  for await (const owed of listOwed(db, which, new Date())) {
    counts[owed.state] += 1;
    show(owed);
  }
  const waiting = counts.waiting + counts.running;
  const parts = which.map((one) => (one === 'parked' ? `${counts.parked} parked` : `${waiting} waiting`));
  print(`${parts.join(', ')}.`);
  if (counts.parked > 0) print('Once their cause is mended: npm run deliveries -- requeue --all, or their numbers.');
  return true;
}

async function requeueAndTell({ db, kind }: Database, selection: Selection): Promise<boolean> {
  const now = new Date();
  const requeued = await requeue(db, selection, now);
  if (typeof selection !== 'object' && requeued.length === 0)
    print(selection === 'parked' ? 'Nothing is parked.' : 'Nothing waits for another try.');
  const missing = typeof selection === 'object' ? selection.ids.filter((id) => !requeued.includes(id)) : [];
  for (const id of missing) {
    const standing = await findStanding(db, id, now);
    if (!standing) print(`${id}: there is no such delivery. It may be done: what is done is kept no longer.`);
    else if (standing.isRunning) print(`${id}: is being run now, so it was left alone.`);
    else print(`${id}: was never tried and needs no help; it is due ${moment(standing.due_at)}.`);
  }
  if (requeued.length > 0) {
    const named = requeued.slice(0, namedMax).join(', ') + (requeued.length > namedMax ? ', …' : '');
    print(`${counted(requeued.length)} requeued: ${named}.`);
    const who =
      kind === 'embedded' ? 'The service runs them when it is started' : 'A running service takes them up at once';
    print(
      `${who}, each with a full set of ${triesMax} tries. Codes and links whose time is over are dropped, not sent.`,
    );
  }
  return missing.length === 0;
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

const request = readArguments();
if (request)
  await runOnDatabase(process.env, (database) =>
    request.command === 'list' ? list(database, request.which) : requeueAndTell(database, request.selection),
  );
