import { Socket } from 'node:net';
import type pg from 'pg';

/*
 * Where a network loses or changes bytes, the driver finds something that is no message. It then throws in the socket's
 * event, which would end the process, or goes on with what follows, which would give answers to the wrong statements.
 * So such a connection is closed: its statements fail, and the next one opens another.
 */

const unreadable = (cause: unknown): Error =>
  new Error('Connection terminated: what the server sent cannot be read', { cause });

/** For the option `stream` of a connection. */
export class GuardedSocket extends Socket {
  // Each event has parameters of its own.
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    try {
      return super.emit(event, ...values);
    } catch (error) {
      if (event !== 'data') throw error;
      this.destroy(unreadable(error));
      return true;
    }
  }
}

/** Closes the connection of a client at a message that is none; PostgreSQL's own errors have a code. */
export function closeAtUnreadable({ connection }: pg.Client): void {
  connection.on('errorMessage', (error: { code?: string }) => {
    if (error.code === undefined) connection.stream.destroy(unreadable(error));
  });
}
