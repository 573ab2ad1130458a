import { request, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Append } from '../../test/history/history.ts';
import type { Node } from './cluster.ts';

/* Callers without the SDK, who try once: some write without an Idempotency-Key, and one reads ten times a second. */

type Place = { url: string; clientUrl: string; key: string; sender: number; probedTask: number };
/** A read; its status is 0 where there was no answer. */
type Probe = { begun: number; ended: number; status: number; isRetryable: boolean; error: string | undefined };
type Answer = { status: number; headers: IncomingHttpHeaders; error?: string };

const writers = 2;
const writeEveryMs = 200;
const probeEveryMs = 100;
const patienceMs = 30_000;

export class Scripts {
  readonly probes: Probe[] = [];
  /** Writes whose outcome their caller does not know. */
  unknown = 0;
  readonly #place: Place;
  readonly #credentials: Record<string, string>;

  constructor(place: Place) {
    this.#place = place;
    this.#credentials = { authorization: `Bearer ${place.key}` };
  }

  /** Works until the signal; the promises are fulfilled after the last answer. */
  run(beginAppend: (name: string) => { append: Append; taskId: number }, signal: AbortSignal): Promise<void>[] {
    const pause = (ms: number): Promise<void> => delay(ms, undefined, { signal }).catch(() => {});
    const writing = Array.from({ length: writers }, async (_, index) => {
      while (!signal.aborted) {
        const { append, taskId } = beginAppend(`script ${index + 1}`);
        await this.#write(append, taskId);
        await pause(writeEveryMs);
      }
    });
    const probing = async (): Promise<void> => {
      const running: Promise<void>[] = [];
      for (; !signal.aborted; await pause(probeEveryMs)) running.push(this.#probe());
      await Promise.all(running);
    };
    return [...writing, probing()];
  }

  /** What a node says is left of the limit of an operation that nobody else calls. */
  async remainingAt({ port }: Node): Promise<number> {
    const { headers } = await this.#call(`http://127.0.0.1:${port}/api/api-keys/`);
    return Number(headers['ratelimit-remaining']);
  }

  async #write(append: Append, taskId: number): Promise<void> {
    const { clientUrl, sender } = this.#place;
    const { status } = await this.#call(`${clientUrl}/api/task-chats/`, {
      method: 'POST',
      body: JSON.stringify({ taskId, sender, message: append.value, format: 'text' }),
    });
    append.ended = performance.now();
    if (status === 200 || status === 201) append.outcome = 'acknowledged';
    else if (status >= 400 && status < 500) append.outcome = 'refused';
    else this.unknown += 1;
  }

  async #probe(): Promise<void> {
    const begun = performance.now();
    const { status, headers, error } = await this.#call(`${this.#place.url}/api/tasks/chat/${this.#place.probedTask}/`);
    const isRetryable = status === 503 && headers['retry-after'] !== undefined;
    this.probes.push({ begun, ended: performance.now(), status, isRetryable, error });
  }

  /** An answer that was read to its end; its status is 0 where there was none. Each call has a connection of its own. */
  #call(url: string, { method = 'GET', body = '' } = {}): Promise<Answer> {
    const headers = { ...this.#credentials, 'content-type': 'application/json', 'content-length': body.length };
    const signal = AbortSignal.timeout(patienceMs);
    return new Promise((resolve) => {
      const fail = ({ message }: Error): void => resolve({ status: 0, headers: {}, error: message });
      request(url, { method, headers, signal, agent: false }, (response) => {
        const answer = { status: response.statusCode ?? 0, headers: response.headers };
        response
          .on('error', fail)
          .on('end', () => resolve(answer))
          .resume();
      })
        .on('error', fail)
        .end(body);
    });
  }
}
