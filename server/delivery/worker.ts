import { setTimeout as delay } from 'node:timers/promises';
import { lanes, type AnyReaction, type Lane, type ReactionServices } from '../kernel/reaction.ts';
import { sendWithinMs, type Mailer } from '../mail/mailer.ts';
import { createLeases, type Leased, type LeaseTimes } from './leases.ts';
import { createPace, type Pace } from './pace.ts';
import { triesMax, waitAfter } from './retry.ts';

/**
 * Runs deliveries: takes a lease on those that are due, runs their reactions, and crosses out what is done.
 * A worker that dies leaves its leases to run out, and another one takes over. Several nodes share the work.
 */
export type Worker = {
  start(): void;
  /** Looks at once: something was written. */
  wake(): void;
  /** Runs until nothing is due any more, for tests and for shutdown. */
  drain(): Promise<void>;
  /** How the tries of this process ended, counted by reaction. */
  countTries(): TryCount[];
  stop(): Promise<void>;
};

/** `failed` will be tried again, `parked` will not. */
export type TryCount = { reaction: string; outcome: 'done' | 'failed' | 'parked'; count: number };

/** How often to look without being woken: for retries, and for what other nodes left behind. */
const pollMs = 1_000;
/** A process that was killed holds up what it had begun for as long as this; a send must fit into what renewals leave of it. */
const leaseTimes: LeaseTimes = { leaseMs: 20_000, renewMs: 5_000 };

type LaneState = {
  readonly name: Lane;
  readonly pace: Pace;
  /** Passes come one after the other. */
  passes: Promise<unknown>;
  wanted: boolean;
  nap: AbortController | undefined;
};

export function createWorker(
  services: ReactionServices,
  reactions: AnyReaction[],
  times: LeaseTimes = leaseTimes,
): Worker {
  const { clock, log } = services;
  const byName = new Map(reactions.map((one) => [one.name, one]));
  const leases = createLeases(services, times);
  const tries = new Map<string, TryCount>();
  const stopping = new AbortController();
  const states = lanes.map((name): LaneState => ({
    name,
    pace: createPace(name),
    passes: Promise.resolve(),
    wanted: false,
    nap: undefined,
  }));
  let loops: Promise<void[]> | undefined;

  function count(reaction: string, outcome: TryCount['outcome']): void {
    const counted = tries.get(`${reaction} ${outcome}`);
    if (counted) counted.count += 1;
    else tries.set(`${reaction} ${outcome}`, { reaction, outcome, count: 1 });
  }

  async function run(leased: Leased): Promise<void> {
    const { reaction: name, payload, dedupeKey, createdAt } = leased;
    // A try that ended with its process has reported no failure, and must not come again for ever.
    if (leased.tries > triesMax) throw new Error('its last try never came to an end');
    const reaction = byName.get(name);
    if (!reaction) throw new Error(`this version knows no reaction that is called ${name}`);
    await reaction.run({ ...services, mailer: underLease(leased) }, payload, { dedupeKey, createdAt });
  }

  /** Sends only what nobody else can have begun to send before this one is over. */
  function underLease(leased: Leased): Mailer {
    return {
      async send(mail, options) {
        if (leased.until.getTime() - clock.now().getTime() < sendWithinMs)
          throw new Error('its lease ran out before it could be sent');
        await services.mailer.send(mail, options);
      },
    };
  }

  async function tryOnce(leased: Leased): Promise<void> {
    const { deliveryId, reaction } = leased;
    let failure: { error: unknown } | undefined;
    await run(leased).catch((error: unknown) => (failure = { error }));
    try {
      if (failure) await giveBack(leased, failure.error);
      else {
        await leases.finish(leased);
        count(reaction, 'done');
      }
    } catch (error) {
      log.warn({ err: error, reaction, deliveryId }, 'a delivery could not be settled and will be run once more');
    }
  }

  async function giveBack(leased: Leased, error: unknown): Promise<void> {
    const { deliveryId, reaction, tries: made } = leased;
    const waitMs = waitAfter(error, made);
    const fields = { err: error, reaction, deliveryId, tries: made };
    await leases.giveBack(leased, { waitMs, reason: reasonOf(error) });
    if (waitMs === undefined) {
      log.error(fields, 'a delivery was parked: `npm run deliveries -- list` shows it, and `requeue` tries it anew');
      count(reaction, 'parked');
    } else {
      log.warn({ ...fields, waitMs: Math.round(waitMs) }, 'a delivery failed and will be tried again');
      count(reaction, 'failed');
    }
  }

  /** Begins as many deliveries of a lane as there is room for; answers whether there may be more to do. */
  function pass(lane: LaneState): Promise<{ begun: number; isFull: boolean }> {
    const mine = lane.passes.then(async () => {
      const room = lane.pace.room();
      const leased = room === 0 ? [] : await leases.take(lane.name, room);
      for (const one of leased) lane.pace.begin(tryOnce(one));
      return { begun: leased.length, isFull: leased.length === room };
    });
    lane.passes = mine.catch(() => {});
    return mine;
  }

  async function drain(): Promise<void> {
    while (!stopping.signal.aborted) {
      const passes = await Promise.all(states.map(pass));
      const running = states.flatMap((lane) => lane.pace.running());
      if (running.length === 0 && passes.every(({ begun }) => begun === 0)) return;
      await Promise.all(running);
    }
  }

  async function work(lane: LaneState): Promise<void> {
    let isCutOff = false;
    while (!stopping.signal.aborted) {
      lane.wanted = false;
      const passed = await pass(lane).catch((error: unknown) => {
        if (!isCutOff) log.warn({ err: error, lane: lane.name }, 'deliveries wait: the database does not answer');
        isCutOff = true;
        return undefined;
      });
      if (passed) {
        if (isCutOff) log.info({ lane: lane.name }, 'deliveries go on: the database answers again');
        isCutOff = false;
      }
      if (passed?.isFull === true) {
        await lane.pace.untilRoom();
      } else if (!lane.wanted && !stopping.signal.aborted) {
        lane.nap = new AbortController();
        await delay(pollMs, undefined, { signal: lane.nap.signal }).catch(() => {});
      }
    }
  }

  return {
    start: () => void (loops ??= Promise.all(states.map(work))),
    wake() {
      // Not at once: the answer goes first, and how long a delivery takes must not show in the next one's time.
      setTimeout(
        () => {
          for (const lane of states) {
            lane.wanted = true;
            lane.nap?.abort();
          }
        },
        20 + Math.random() * 60,
      ).unref();
    },
    drain,
    countTries: () => [...tries.values()],
    async stop() {
      stopping.abort();
      leases.stop();
      for (const lane of states) lane.nap?.abort();
      await loops;
      await Promise.all(states.map((lane) => lane.passes));
      await Promise.all(states.flatMap((lane) => lane.pace.running()));
    },
  };
}

/** An error in one line that a table of the database takes: no line breaks, and not the one character that it refuses. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 500);
}
