import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createCaller, type Caller, type TokenPair } from '../support/actor.ts';
import { endAllProcesses, makeHome, startProcess } from '../support/process.ts';
import { addTask } from '../support/work.ts';
import { readOverEvents, readOverWebSocket, stalledEvents, stalledSocket, type Reader } from './readers.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

const mib = 1024 * 1024;
const stalledSockets = 200;
const stalledStreams = 30;
const latecomers = 20;
const taskCount = 2;
/** What is said in a phase, all tasks together: for one reader more than the network keeps, which is some 4 MiB. */
const said = 120;
const message = 'x'.repeat(60_000);

type Person = TokenPair & { employee: { _id: number } };

const home = await makeHome();
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});
const service = await startProcess(
  { ...home.environment, SEED_DEMO: 'false', RATE_LIMIT_PER_MINUTE: '1000000', LOG_LEVEL: 'warn' },
  // Little room for garbage: what the process holds is then what it keeps.
  [process.execPath, '--max-old-space-size=192', '--max-semi-space-size=8', 'server/main.ts'],
);
const { url } = service;

async function register(): Promise<Person> {
  const anonymous = createCaller(url);
  const email = 'ada@example.com';
  await anonymous.post('/get-register-otp/', { email });
  const lastCode = async () => /\\n(\d{6})\\n/.exec(await readFile(join(home.folder, 'mail.jsonl'), 'utf8'))![1];
  const otp = await waitFor(lastCode);
  const company = { company_name: 'Stalls', email, otp, first_name: 'Ada', last_name: 'Lovelace' };
  const { status, body } = await anonymous.post('/api/create-company-and-employee/', company);
  expect(status).toBe(200);
  return body;
}

/** What the process holds and has done. */
async function measure() {
  const { body } = await createCaller(url).get('/metrics');
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body as string)![1]);
  return {
    residentBytes: figure('process_resident_memory_bytes'),
    eventsSent: figure('events_sent_total'),
    connections: figure('event_connections'),
  };
}

/** The most memory that the process holds while the work is done. */
async function watch(work: () => Promise<void>): Promise<number> {
  const over = new AbortController();
  let most = 0;
  const watching = (async () => {
    while (!over.signal.aborted) {
      most = Math.max(most, (await measure()).residentBytes);
      await delay(200);
    }
  })();
  try {
    await work();
  } finally {
    over.abort();
    await watching;
  }
  return most;
}

/** The 99th percentile since it was taken last. */
function takeLateness(readers: Reader[]): number {
  const sorted = readers.flatMap(({ latenessMs }) => latenessMs.splice(0)).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

test('those who read nothing cost little memory and hold up nobody, and can go on where they were', async () => {
  const ada = await register();
  const caller: Caller = createCaller(url, ada);
  const { body: project } = await caller.post('/api/projects/', { name: 'Stalls' });
  const taskIds: number[] = [];
  for (let made = 0; made < taskCount; made += 1) taskIds.push(await addTask({ ...caller } as never, project._id));
  const place = { url, pair: ada, taskIds };

  let begun = 0;
  async function say(count: number): Promise<void> {
    for (const until = begun + count; begun < until; begun += 1) {
      const comment = { taskId: taskIds[begun % taskCount], sender: ada.employee._id, message };
      expect((await caller.post('/api/task-chats/', comment)).status).toBe(200);
    }
  }
  const countOf = ({ heard }: Reader): number => [...heard.values()].flat().length;
  const hearAll = (readers: Reader[]): Promise<boolean> =>
    waitUntil(() => readers.every((reader) => countOf(reader) >= begun));

  const healthy = [
    ...(await Promise.all([readOverWebSocket(place), readOverWebSocket(place), readOverWebSocket(place)])),
    ...(await Promise.all([readOverEvents(place), readOverEvents(place)])),
  ];
  const halting = [await readOverWebSocket(place), await readOverEvents(place)];
  onTestFinished(() => [...healthy, ...halting].forEach((reader) => reader.close()));

  // What the process learns and keeps once is not what readers cost.
  await say(said);
  await hearAll([...healthy, ...halting]);
  const before = await measure();
  // On a machine that does much else everything is late, and later still where there is more to do.
  const latenessMax = Math.max(3_000, 10 * takeLateness(healthy));
  const connects = healthy.map((reader) => reader.connects());

  for (const reader of halting) reader.stall();
  const letGo: (() => void)[] = [];
  onTestFinished(() => letGo.forEach((one) => one()));
  async function open(count: number, stall: typeof stalledSocket, lastEventId?: string): Promise<void> {
    for (let opened = 0; opened < count; opened += 10)
      letGo.push(...(await Promise.all(Array.from({ length: 10 }, () => stall(place, lastEventId)))));
  }
  await open(stalledSockets, stalledSocket);
  await open(stalledStreams, stalledEvents);
  expect((await measure()).connections).toBeGreaterThanOrEqual(stalledSockets + stalledStreams);
  // And some who want to hear all that was said before.
  await open(latecomers, stalledSocket, '0');
  takeLateness(healthy);

  const most = await watch(async () => {
    await say(said);
    await hearAll(healthy);
  });
  expect((most - before.residentBytes) / mib).toBeLessThan(100);
  // Without a bound the process would hold what was not sent to those sockets, even if nobody else had got anything.
  const sent = (await measure()).eventsSent - before.eventsSent - healthy.length * said;
  expect(((stalledSockets * said - sent) * message.length) / mib).toBeGreaterThan(200);
  expect(takeLateness(healthy)).toBeLessThan(latenessMax);

  // They are cut off, so that nothing of them stays; those who come back get what they missed.
  await waitUntil(async () => (await measure()).connections < stalledSockets, { interval: 200 });
  for (const reader of halting) reader.readOn();
  await hearAll([...healthy, ...halting]);
  // Nobody else was cut off with them.
  expect(healthy.map((reader) => reader.connects())).toEqual(connects);
  for (const { heard } of [...healthy, ...halting])
    for (const ids of heard.values()) expect(ids).toEqual(ids.map((_, index) => index + 1));
}, 240_000);
