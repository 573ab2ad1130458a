import { Duplex } from 'node:stream';
import type { PGlite } from '@electric-sql/pglite';

/**
 * For the option `stream` of a client: PostgreSQL in this process instead of behind a socket. What the client writes
 * until the end of a tick is run together, and blocks the process for as long as it takes.
 */
export class EmbeddedStream extends Duplex {
  readonly #pglite: PGlite;

  constructor(pglite: PGlite) {
    super();
    this.#pglite = pglite;
  }

  connect(): this {
    void this.#begin();
    return this;
  }

  /** PGlite has one session for all clients, one after another: what an earlier one left in it goes. */
  async #begin(): Promise<void> {
    try {
      await this.#pglite.exec('rollback');
      await this.#pglite.exec('discard all');
      this.emit('connect');
    } catch (error) {
      this.destroy(asError(error));
    }
  }

  override _read(): void {
    // An answer is there when its messages have been run.
  }

  override _writev(parts: { chunk: Uint8Array }[], done: (error?: Error) => void): void {
    const messages = Buffer.concat(parts.map(({ chunk }) => chunk));
    process.nextTick(() => void this.#run(messages, done));
  }

  async #run(messages: Uint8Array, done: (error?: Error) => void): Promise<void> {
    try {
      // What it is given is PGlite's own memory, which changes with the next message.
      const onRawData = (answer: Uint8Array) => void this.push(Buffer.from(answer));
      await this.#pglite.execProtocolRawStream(messages, { syncToFs: false, onRawData });
      done();
    } catch (error) {
      done(asError(error));
    }
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  // What a socket can do besides, and the client asks for.

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

/** PGlite may throw something other than an error. */
const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('PostgreSQL gave up', { cause: thrown });
