import { on, once } from 'node:events';
import { forkOn } from '../support/fork-on.ts';
import type { Pinning } from '../support/machine.ts';
import { nowMicros, type Arrivals, type Listening } from './arrivals.ts';

/** Milliseconds from the answer of a write to the arrival of its event. */
export type Spread = { p50: number; p95: number; p99: number; max: number };
export type FanOut = { writes: number; webSockets?: Spread; eventStreams?: Spread; everybody: Spread };

function spreadOf(times: number[]): Spread {
  const sorted = Float64Array.from(times).toSorted();
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

/** The first events teach the processes what they do; they are not counted. */
const warmUps = 5;

export const countConnections = ({
  webSockets,
  eventStreams,
  stalled,
  others,
}: Pick<Listening, 'webSockets' | 'eventStreams' | 'stalled' | 'others'>): number =>
  webSockets + eventStreams + stalled + others;

/** Has so many connections listen to a task, and writes on it: the next when all have the one before. */
export async function measureFanOut(
  listening: Listening,
  write: () => Promise<void>,
  { writes, pinning, report }: { writes: number; pinning: Pinning; report: (what: string) => void },
): Promise<FanOut> {
  const child = forkOn(pinning?.generator, 'chat/listeners.ts');
  const messages = on(child, 'message', { close: ['exit'] });
  async function next<Message>(): Promise<Message> {
    const { value, done } = await messages.next();
    if (done) throw new Error('the listeners ended in the middle of their work');
    const [message] = value as [{ error?: string } & Message];
    if (message.error !== undefined) throw new Error(`the listeners failed: ${message.error}`);
    return message;
  }
  try {
    child.send(listening);
    const count = countConnections(listening);
    for (let isReady = false; !isReady;) {
      const told = await next<{ opened?: number; isReady?: boolean }>();
      if (told.opened !== undefined) report(`${told.opened} of ${count} connections`);
      isReady = told.isReady === true;
    }
    const times = { webSockets: [] as number[], eventStreams: [] as number[] };
    for (let written = -warmUps; written < writes; written += 1) {
      report(`fan-out: ${Math.max(0, written)} of ${writes} writes`);
      const arriving = next<Arrivals>();
      await write();
      const answered = nowMicros();
      const arrivals = await arriving;
      if (written < 0) continue;
      // Some have it before the writer has the answer.
      for (const kind of ['webSockets', 'eventStreams'] as const)
        for (const micros of arrivals[kind]) times[kind].push(Math.max(0, micros - answered) / 1_000);
    }
    const { webSockets, eventStreams } = times;
    return {
      writes,
      ...(webSockets.length > 0 ? { webSockets: spreadOf(webSockets) } : {}),
      ...(eventStreams.length > 0 ? { eventStreams: spreadOf(eventStreams) } : {}),
      everybody: spreadOf([...webSockets, ...eventStreams]),
    };
  } finally {
    const exit = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill();
    await exit;
  }
}
