import { createInterface } from 'node:readline';
import { isApiError, type Client } from 'work-management-client';
import { connect, connectionHelp, type Connection } from './terminal/connection.ts';
import { htmlOfText, plainLine } from './terminal/plain-text.ts';
import { Problem, toId, UsageProblem } from './terminal/problem.ts';
import { isStop, onlyOperand, run, type Call } from './terminal/run.ts';
import { explain } from './terminal/sentences.ts';
import { trackComments, type Change } from './comments/changes.ts';
import { changeAsJson, changeAsText } from './comments/show-change.ts';

const help = `
Shows the comments on a task, and from then on each new one as it is written. Ctrl-C ends it.

  node follow-task.ts [options] TASK

Options:
  --since WHEN            of what was said before, only this: 30m, 2h or 7d back, 2026-03-01, or now for nothing
  --write                 each line of the standard input becomes a comment; one that begins with #12 replies to that one
  --json                  a line of JSON for each thing that happens

It goes on by itself when the network or the service was away, and misses nothing. Reading marks comments as seen by you.
${connectionHelp}`;

const options = { since: { type: 'string' }, write: { type: 'boolean' }, json: { type: 'boolean' } } as const;

async function main({ values, operands, signal }: Call<typeof options>): Promise<0 | 1> {
  const taskId = toId(onlyOperand(operands, 'which task to follow'), 'The task');
  const since = toSince(values.since, Date.now());
  const connection = await connect(values, signal);
  const { client } = connection;
  try {
    const task = await getTask(client, taskId, signal);
    say(`Task ${taskId}: ${plainLine(task.title)}`);
    if (values.write === true) void writeLines(connection, taskId, signal);
    await follow(connection, taskId, { since, json: values.json === true, signal });
  } catch (error) {
    if (!isStop(error, signal)) throw error;
  } finally {
    process.stdin.destroy();
    await connection.close();
  }
  return 0;
}

async function getTask(client: Client, task_id: number, signal: AbortSignal) {
  try {
    return await client.tasks.get({ task_id }, { signal });
  } catch (error) {
    throw isApiError(error, 'NOT_FOUND') ? new Problem(`There is no task ${task_id} in your company.`) : error;
  }
}

type Following = { since: number; json: boolean; signal: AbortSignal };

/** Shows what was said and then what happens, until it is stopped. */
async function follow(
  { client, employeeId }: Connection,
  taskId: number,
  { since, json, signal }: Following,
): Promise<void> {
  const tracked = trackComments();
  const failing = new AbortController();
  let listed: Promise<void> | undefined;
  let isAway = false;

  function show(changes: readonly Change[]): void {
    for (const change of changes) {
      // That one has just read it oneself is no news.
      if (change.type === 'seen' && change.by.employee_id === employeeId) continue;
      process.stdout.write(json ? changeAsJson(change) : `${changeAsText(change, tracked)}\n`);
    }
  }

  async function showList(from: number): Promise<void> {
    // However long the service is away.
    const patience = { retries: 1_000_000, timeoutMs: 7 * dayMs };
    const { comments } = await client.comments.listByTask({ task_id: taskId }, { signal, ...patience });
    const changes = tracked.list(comments);
    const isWanted = (change: Change): boolean =>
      change.type !== 'listed' || Date.parse(change.comment.createdAt) >= from;
    // A part of the comments shows no threads.
    show(
      changes
        .filter(isWanted)
        .map((change) => (change.type === 'listed' && from > 0 ? { ...change, depth: 0 } : change)),
    );
  }

  function onStatus(status: 'connecting' | 'live' | 'waiting'): void {
    if (status === 'waiting' && !isAway) say('The connection is lost. Trying again …');
    if (status === 'live' && isAway) say('Connected again.');
    if (status !== 'connecting') isAway = status === 'waiting';
    // Whatever happens from the first time on comes as events.
    if (status === 'live') listed ??= showList(since).catch((error: unknown) => failing.abort(error));
  }

  const stopped = AbortSignal.any([signal, failing.signal]);
  for await (const event of client.comments.onTask({ taskId }, { signal: stopped, onStatus })) {
    await listed;
    if (event.type !== 'stream.reset') show(tracked.take(event));
    else {
      say('Away for too long to know all that happened. This is how the comments differ now:');
      await showList(0);
    }
  }
  failing.signal.throwIfAborted();
}

/** Sends what is typed. What fails is said, and the next line is tried. */
async function writeLines({ client }: Connection, taskId: number, signal: AbortSignal): Promise<void> {
  for await (const line of createInterface({ input: process.stdin, signal })) {
    const [, replyTo, text = ''] = /^\s*(?:#(\d+)\s+)?(.*?)\s*$/.exec(line) ?? [];
    if (text === '') continue;
    const reply = replyTo === undefined ? {} : { reply_to: toId(replyTo, 'The comment') };
    try {
      await client.comments.create({ taskId, ...reply, message: htmlOfText(text) }, { signal });
    } catch (error) {
      if (isStop(error, signal)) return;
      say(`Not sent: ${explain(error)}`);
    }
  }
}

/** A message about the program, beside the comments. */
function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

const dayMs = 24 * 3600 * 1000;
const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: dayMs };

/** The moment from which on comments are shown; 0 for all of them. */
function toSince(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  if (text === 'now') return now;
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const moment = amount === undefined ? Date.parse(text) : now - Number(amount) * units[unit!]!;
  if (Number.isNaN(moment))
    throw new UsageProblem(`--since takes 30m, 2h, 7d, a day such as 2026-03-01, or now, not "${text}"`);
  return moment;
}

await run(help, options, main);
