import { isApiError, type Client, type TaskLogsBulkCreateAnswer } from 'work-management-client';
import type { LineProblem } from '../terminal/sentences.ts';
import type { Entry, Skipped } from './read-entries.ts';

/** What has become of the rows so far. */
export type Outcome = {
  created: number;
  /** Rows sent that the service has now: created or there before. */
  stored: number;
  skipped: Skipped[];
  refused: LineProblem[];
  /** The latest that the service said of each person's day. */
  days: Map<string, { employeeId: number; date: string; workingHours: number }>;
  exceeded: Map<number, TaskLogsBulkCreateAnswer['exceededProjects'][number]>;
};

export function newOutcome(skipped: readonly Skipped[]): Outcome {
  return { created: 0, stored: 0, skipped: [...skipped], refused: [], days: new Map(), exceeded: new Map() };
}

export type Sending = { client: Client; outcome: Outcome; signal: AbortSignal };

/**
 * Sends all batches, one after the other; `onBatch` is told how many rows are stored. It can be repeated: the service
 * skips what it has, so whatever was cut off is made good by sending everything again. (Within one call the client sends an
 * idempotency key, so that a try whose answer was lost is not reported as skipped.)
 */
export async function sendBatches(
  sending: Sending,
  batches: Entry[][],
  onBatch: (stored: number) => void,
): Promise<void> {
  for (const batch of batches) {
    await sendBatch(sending, batch);
    onBatch(sending.outcome.stored);
  }
}

async function sendBatch(sending: Sending, batch: Entry[]): Promise<void> {
  const { client, outcome, signal } = sending;
  // Between batches only: an aborted call would leave open whether its rows are stored.
  signal.throwIfAborted();
  const userId = batch[0]!.employeeId;
  const entries = batch.map(({ line: _line, employeeId: _employeeId, ...entry }) => ({ ...entry, userId }));
  try {
    // A thousand rows take a while on a small machine, and a retry would only wait for the first request.
    const limits = { timeoutMs: 300_000, tryTimeoutMs: 120_000 };
    take(outcome, batch, await client.taskLogs.bulkCreate({ user_id: userId, entries }, limits));
  } catch (error) {
    // Where one row is refused none of its batch is stored: the others go again without it.
    const refused = refusedRows(error, batch);
    if (refused.size === 0) throw error;
    for (const [entry, problem] of refused) outcome.refused.push({ line: entry.line, problem });
    const rest = batch.filter((entry) => !refused.has(entry));
    if (rest.length > 0) await sendBatch(sending, rest);
  }
}

function take(outcome: Outcome, batch: Entry[], answer: TaskLogsBulkCreateAnswer): void {
  outcome.created += answer.created.length;
  outcome.stored += batch.length;
  for (const { index } of answer.skipped) outcome.skipped.push({ line: batch[index]!.line, reason: 'logged already' });
  const { employeeId } = batch[0]!;
  for (const day of answer.days) outcome.days.set(`${employeeId} ${day.date}`, { employeeId, ...day });
  for (const project of answer.exceededProjects) outcome.exceeded.set(project.projectId, project);
}

/** What the file calls the fields of an entry. */
const columnOf: Record<string, string> = {
  taskId: 'task_id',
  userId: 'employee_id',
  startTime: 'start',
  endTime: 'end',
};

/** The rows that an error concerns; none if it concerns something else. */
function refusedRows(error: unknown, batch: Entry[]): Map<Entry, string> {
  if (isApiError(error, 'FORBIDDEN', 'NOT_FOUND')) {
    const problem = isApiError(error, 'NOT_FOUND') ? 'This employee is not active any more.' : error.message;
    return new Map(batch.map((entry) => [entry, problem]));
  }
  const refused = new Map<Entry, string>();
  if (!isApiError(error, 'VALIDATION_FAILED', 'PERIOD_LOCKED')) return refused;
  for (const { path, message } of error.issues) {
    const [, index, field = ''] = path;
    const entry = batch[Number(index)];
    if (!entry) continue;
    const problem = `${columnOf[field] ?? field}${field === 'taskId' ? ` ${entry.taskId}` : ''} ${message}`;
    refused.set(entry, refused.has(entry) ? `${refused.get(entry)}; ${problem}` : problem);
  }
  return refused;
}

/** A body may have 1 MiB. */
const batchBytesMax = 900_000;

/** Batches as the service takes them: of one person, of `size` rows at most, and not too large. */
export function batchesOf(entries: readonly Entry[], size: number): Entry[][] {
  const batches: Entry[][] = [];
  for (const ofOne of Map.groupBy(entries, ({ employeeId }) => employeeId).values()) {
    let batch: Entry[] = [];
    let bytes = 0;
    for (const entry of ofOne) {
      const entryBytes = Buffer.byteLength(JSON.stringify(entry));
      if (batch.length === size || bytes + entryBytes > batchBytesMax) {
        batches.push(batch);
        batch = [];
        bytes = 0;
      }
      batch.push(entry);
      bytes += entryBytes;
    }
    batches.push(batch);
  }
  return batches;
}
