import { randomInt, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openServer } from '../../db/open.ts';
import { createCaller, type Caller, type TokenPair } from '../support/actor.ts';
import { overEvents, overWebSocket, type Heard } from '../support/listener.ts';
import { asOneOfSeveral, endAllProcesses, makeHome, startProcess } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { addTask } from '../support/work.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

const writes = 2_000;
const writers = 12;
const taskCount = 6;

/** Three processes, each behind a proxy that can cut its callers off, on one database. */
async function startNodes() {
  const home = await makeHome();
  const environment = {
    ...home.environment,
    ...asOneOfSeveral,
  };
  // The first one makes the schema and the keys.
  const first = await startProcess(environment);
  const processes = [first, ...(await Promise.all([startProcess(environment), startProcess(environment)]))];
  const nodes = await Promise.all(
    processes.map(async (process) => {
      const proxy = await startProxy(process.url, 80);
      return { process, proxy, url: proxy.url.replace(/\/$/, ''), isDead: false };
    }),
  );
  onTestFinished(async () => {
    await Promise.all(nodes.map(({ proxy }) => proxy.close()));
    await endAllProcesses();
    await home.remove();
  });
  return { home, nodes };
}

type Person = TokenPair & { employee: { _id: number; companyId: number } };

async function register(url: string, dataFolder: string): Promise<Person> {
  const anonymous = createCaller(url);
  const email = 'ada@example.com';
  await anonymous.post('/get-register-otp/', { email });
  const otp = await waitFor(async () => {
    const [mail] = (await readFile(join(dataFolder, 'mail.jsonl'), 'utf8')).trim().split('\n');
    return /^\d{6}$/m.exec((JSON.parse(mail!) as { text: string }).text)![0];
  });
  const company = { company_name: 'Storm', email, otp, first_name: 'Ada', last_name: 'Lovelace' };
  const { status, body } = await anonymous.post('/api/create-company-and-employee/', company);
  expect(status).toBe(200);
  return body;
}

describe.skipIf(inject('template').kind === 'embedded')('three nodes, cuts and a kill', () => {
  test('every client has every event of its streams once and in order', async () => {
    const { home, nodes } = await startNodes();
    const ada = await register(nodes[0]!.process.url, home.folder);
    const { _id: sender, companyId } = ada.employee;
    const direct = createCaller(nodes[0]!.process.url, ada);
    const { body: project } = await direct.post('/api/projects/', { name: 'Storm' });
    const taskIds: number[] = [];
    for (let made = 0; made < taskCount; made += 1) taskIds.push(await addTask({ ...direct } as never, project._id));

    const alive = () => nodes.filter(({ isDead }) => !isDead);
    const anyOf = <Item>(items: Item[]): Item => items[randomInt(items.length)]!;
    const ways = [
      ...Array.from({ length: 6 }, () => overWebSocket(() => anyOf(alive()).url, ada)),
      ...nodes.slice(0, 2).map(({ url }) => overEvents(url, ada)),
    ];
    const clients = await Promise.all(
      ways.map((way) =>
        Promise.all(taskIds.map((taskId) => way.listen('comments.onTask', { taskId, lastEventId: '0' }))),
      ),
    );

    let done = 0;
    const isOver = () => done >= writes;
    /** Sends until somebody has answered: the same key makes sure that it happens once. */
    async function write(path: string, body?: object): Promise<{ _id: number }> {
      const headers = { 'idempotency-key': randomUUID() };
      for (;;) {
        const caller: Caller = createCaller(anyOf(alive()).process.url, ada);
        const answer = await caller.post(path, body, { headers }).catch(() => undefined);
        if (answer?.status === 200) return answer.body;
        if (answer && ![409, 503].includes(answer.status)) throw new Error(JSON.stringify(answer.body));
        await delay(20);
      }
    }
    let begun = 0;
    async function writeOn(): Promise<void> {
      let commentId = 0;
      for (let turn = 0; begun < writes; turn += 1) {
        begun += 1;
        if (turn % 5 === 0) {
          const comment = { taskId: anyOf(taskIds), sender, message: `<p>Turn ${turn}</p>` };
          commentId = (await write('/api/task-chats/', comment))._id;
        } else {
          await write(`/api/${turn % 5 === 1 || turn % 5 === 3 ? 'like' : 'dislike'}-chat/${sender}/${commentId}/`);
        }
        done += 1;
      }
    }
    async function cutAtRandom(): Promise<void> {
      while (!isOver()) {
        await delay(randomInt(100, 500));
        const { proxy } = anyOf(alive());
        proxy.cut();
        await delay(randomInt(50));
        proxy.restore();
      }
    }
    async function killOne(): Promise<void> {
      await waitUntil(() => done > writes / 2, { timeout: 240_000 });
      const [, , victim] = nodes;
      victim!.isDead = true;
      victim!.process.signal('SIGKILL');
      expect(await victim!.process.ended).toBe('SIGKILL');
      victim!.proxy.cut();
    }
    await Promise.all([...Array.from({ length: writers }, writeOn), cutAtRandom(), killOne()]);

    const database = openServer(home.databaseUrl!);
    const { rows } = await sql<{ stream: string; last_sequence: number }>`
      select stream, last_sequence from event_streams where company_id = ${companyId}`.execute(database.db);
    await database.close();
    const ends = new Map(rows.map((row) => [row.stream, row.last_sequence]));
    const expected = taskIds.map((taskId) => ends.get(`task ${taskId}`)!);
    // Each write has happened once, although a node died under some.
    expect(expected.reduce((sum, end) => sum + end, 0)).toBe(writes);

    for (const listeners of clients) {
      for (const [index, listener] of listeners.entries()) {
        await listener.hears(expected[index]!);
        expect(listener.errorCode()).toBeUndefined();
        expect(gapsIn(listener.events)).toEqual([]);
        expect(listener.events).toHaveLength(expected[index]!);
      }
    }
    await Promise.all(ways.map((way) => way.close()));
  }, 480_000);
});

/** Where an event is not the successor of the one before. */
function gapsIn(events: Heard[]): [number, number][] {
  return events.flatMap(({ id }, index): [number, number][] => (id === index + 1 ? [] : [[index, id]]));
}
