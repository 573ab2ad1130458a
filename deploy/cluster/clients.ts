import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type Client } from '../../client-sdk/src/index.ts';
import type { Append, Delivery, Operation, Read } from '../../test/history/history.ts';
import { until } from './cluster.ts';
import { Scripts } from './scripts.ts';

/*
 * Clients who write comments on a few tasks, read them, and subscribe to them, half over WebSockets and half over server-sent
 * events. All that they and the scripts beside them do and see is recorded, for the checker of histories.
 */

export type SignIn = { email: string; password: string };
/** Of calls with the SDK: as it is by default, or until an outage is over. */
export type Patience = 'default' | 'long';

type Place = { url: string; clientUrl: string; signIn: SignIn; count: number };
type Written = { begun: number; ended: number; attempts: number };
type Person = { name: string; client: Client; attempts(): number };

const tasksCount = 8;
const tasksOfClient = 2;
const pauseMs = 800;
const long = { retries: 1_000, timeoutMs: 120_000, tryTimeoutMs: 10_000 };

export class Clients {
  readonly written: Written[] = [];
  /** Calls with the SDK that failed after their last attempt. */
  readonly failures: string[] = [];
  /** How long after it happened an event came, and when that was. */
  readonly lateness: { at: number; ms: number }[] = [];
  patience: Patience = 'long';
  readonly #place: Place;
  readonly #people: Person[] = [];
  #history: Operation[] = [];
  #positions = new Map<string, Map<string, number>>();
  #tasks: number[] = [];
  #projectId = 0;
  #scripts: Scripts | undefined;
  #ending = new AbortController();
  #leaving = new AbortController();
  #running: Promise<void>[] = [];
  #streams: Promise<void>[] = [];
  #count = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Signs everybody in. */
  async open(): Promise<void> {
    const { count, clientUrl, signIn } = this.#place;
    for (let index = 0; index < count; index += 1) {
      let attempts = 0;
      const client = createClient({
        baseUrl: clientUrl,
        events: index % 2 === 0 ? 'websocket' : 'sse',
        fetch(url, init) {
          if (init?.method === 'POST') attempts += 1;
          return fetch(url, init);
        },
      });
      await client.auth.login(signIn);
      this.#people.push({ name: `client ${index + 1}`, client, attempts: () => attempts });
    }
    const { client } = this.#people[0]!;
    this.#projectId = (await client.projects.create({ name: 'Faults' }))._id;
    const { key } = await client.apiKeys.create({ name: 'Faults', scopes: ['read', 'write'] });
    const sender = client.session!.employee!._id;
    this.#scripts = new Scripts({ ...this.#place, key, sender, probedTask: await this.#createTask() });
  }

  get scripts(): Scripts {
    return this.#scripts!;
  }

  /** Begins a history, on tasks of its own. */
  async begin(): Promise<void> {
    this.#history = [];
    this.#positions = new Map();
    this.#ending = new AbortController();
    this.#leaving = new AbortController();
    this.#tasks = await Promise.all(Array.from({ length: tasksCount }, () => this.#createTask()));
    this.#streams = this.#people.flatMap((person, index) =>
      Array.from({ length: tasksOfClient }, (_, place) =>
        this.#subscribe(person, this.#tasks[(index + place) % tasksCount]!),
      ),
    );
    this.#running = [
      ...this.#people.map((person) => this.#work(person)),
      ...this.scripts.run((name) => this.#beginAppend(name), this.#ending.signal),
    ];
    const since = this.written.length;
    await until('the first writes', async () => this.written.length > since + 10);
  }

  /** Ends the work, waits until every subscriber has everything, reads each list once more, and returns all that was seen. */
  async end(): Promise<Operation[]> {
    this.#ending.abort();
    await Promise.all(this.#running);
    const hasAll = async () =>
      [...this.#positions.values()].every((positions) => new Set(positions.values()).size === 1);
    await until('the last events', hasAll).catch(() => {});
    // What nobody has been told of yet would come now.
    await delay(500);
    const [reader] = this.#people;
    for (const taskId of this.#tasks) await this.#read(reader!, taskId);
    this.#leaving.abort();
    await Promise.all(this.#streams);
    return this.#history;
  }

  close(): void {
    for (const { client } of this.#people) client.close();
  }

  async #createTask(): Promise<number> {
    const task = await this.#people[0]!.client.tasks.create({ projectId: this.#projectId, title: 'Faults' }, long);
    return task._id;
  }

  async #work(person: Person): Promise<void> {
    await this.#pause(Math.random() * pauseMs);
    while (!this.#ending.signal.aborted) {
      await (Math.random() < 0.6 ? this.#write(person) : this.#read(person, this.#anyTask()));
      await this.#pause(pauseMs * (0.5 + Math.random()));
    }
  }

  async #write({ name, client, attempts }: Person): Promise<void> {
    const { append, taskId } = this.#beginAppend(name);
    const before = attempts();
    const sender = client.session!.employee!._id;
    const message = append.value;
    try {
      await client.comments.create({ taskId, sender, message, format: 'text' }, this.#options());
      append.outcome = 'acknowledged';
    } catch (error) {
      this.failures.push(`${append.value}: ${error instanceof Error ? error.message : String(error)}`);
    }
    append.ended = performance.now();
    const { begun, ended, outcome } = append;
    if (outcome === 'acknowledged') this.written.push({ begun, ended, attempts: attempts() - before });
  }

  async #read({ name, client }: Person, taskId: number): Promise<void> {
    const read: Read = {
      kind: 'read',
      process: name,
      stream: nameOf(taskId),
      values: [],
      begun: performance.now(),
      ended: 0,
    };
    try {
      const { comments } = await client.comments.listByTask({ task_id: taskId }, this.#options());
      read.values = comments.map(({ message }) => valueOf(message)!);
    } catch (error) {
      this.failures.push(`reading: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    read.ended = performance.now();
    this.#history.push(read);
  }

  async #subscribe({ name, client }: Person, taskId: number): Promise<void> {
    const stream = nameOf(taskId);
    const positions = this.#positions.get(stream) ?? new Map<string, number>();
    this.#positions.set(stream, positions.set(name, 0));
    const { signal } = this.#leaving;
    try {
      for await (const event of client.comments.onTask({ taskId, lastEventId: '0' }, { signal })) {
        const at = performance.now();
        const value = event.type === 'comment.created' ? valueOf(event.comment?.message) : undefined;
        const delivery: Delivery = { kind: 'delivery', process: name, stream, id: event.id, value, at };
        this.#history.push(delivery);
        positions.set(name, event.id);
        this.lateness.push({ at, ms: Date.now() - Date.parse(event.at) });
      }
    } catch (error) {
      this.failures.push(`${name}'s stream: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #beginAppend(process: string): { append: Append; taskId: number } {
    const taskId = this.#anyTask();
    const value = `comment ${(this.#count += 1)}`;
    const append: Append = {
      kind: 'append',
      process,
      stream: nameOf(taskId),
      value,
      outcome: 'unknown',
      begun: performance.now(),
      ended: Infinity,
    };
    this.#history.push(append);
    return { append, taskId };
  }

  #anyTask = (): number => this.#tasks[Math.floor(Math.random() * tasksCount)]!;
  #options = () => (this.patience === 'long' ? long : {});
  #pause = (ms: number): Promise<void> => delay(ms, undefined, { signal: this.#ending.signal }).catch(() => {});
}

const nameOf = (taskId: number): string => `task ${taskId}`;

/** The text of a comment, which is answered as HTML. */
const valueOf = (message: string | null | undefined): string | undefined => /comment \d+/.exec(message ?? '')?.[0];
