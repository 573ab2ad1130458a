import { expect, test } from 'vitest';
import { createDatabaseClock } from '../../server/platform/database-clock.ts';

const noon = Date.parse('2026-03-02T12:00:00Z');

/** A database and a node, each with a time of its own, and a network between them. */
async function startClock({ answersAfterMs = [0, 0] as [number, number] } = {}) {
  const state = { monotonic: 7_000, database: noon, isAway: false, answersAfterMs };
  const warnings: string[] = [];
  const log = {
    debug() {},
    info() {},
    error() {},
    warn: (...parts: unknown[]) => void warnings.push(String(parts.at(-1))),
  };
  const pass = (ms: number) => {
    state.monotonic += ms;
    state.database += ms;
  };
  async function readTime(): Promise<Date> {
    if (state.isAway) throw new Error('the database is away');
    const [there, back] = state.answersAfterMs;
    pass(there);
    const time = new Date(state.database);
    pass(back);
    return time;
  }
  const clock = await createDatabaseClock(readTime, { log, monotonic: () => state.monotonic });
  /** By how much the clock is ahead of the database. */
  const errorMs = () => clock.now().getTime() - state.database;
  return { state, clock, pass, errorMs, warnings };
}

test('the clock tells the time of the database, and half of the round trip is taken off', async () => {
  const { clock, pass, errorMs } = await startClock({ answersAfterMs: [40, 40] });
  expect(errorMs()).toBe(0);
  pass(12_345);
  expect([clock.now().getTime(), errorMs()]).toEqual([noon + 80 + 12_345, 0]);
});

test('the clock goes on while the database does not answer', async () => {
  const { state, clock, pass, errorMs } = await startClock();
  state.isAway = true;
  pass(3_600_000);
  await expect(clock.measure()).rejects.toThrow('the database is away');
  expect(errorMs()).toBe(0);
});

test('an answer that was long on its way back moves the clock no further than it proves it wrong', async () => {
  const { state, clock, errorMs, warnings } = await startClock();
  state.answersAfterMs = [0, 8_000];
  await clock.measure();
  expect(errorMs()).toBe(0);
  state.answersAfterMs = [8_000, 0];
  await clock.measure();
  expect([errorMs(), warnings]).toEqual([0, []]);
});

test('clocks that run apart are brought together, and a jump of the database is followed and told', async () => {
  const { state, clock, errorMs, warnings } = await startClock();
  state.database += 30;
  await clock.measure();
  expect([errorMs(), warnings]).toEqual([0, []]);
  state.database -= 25_000;
  await clock.measure();
  expect(errorMs()).toBe(0);
  expect(warnings).toEqual(['the time of the database jumped, and the service follows it']);
});
