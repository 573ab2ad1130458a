import { Redis, type Command } from 'ioredis';
import type { Log } from './log.ts';

/** The longest wait for Redis: after it the service answers without it. */
const commandTimeoutMs = 300;
const connectTimeoutMs = 2_000;
/** After so many commands in a row without an answer the circuit opens: the connection is closed, and further ones fail at once. */
const timeoutsMax = 3;
/** While Redis is away one new connection is tried so often: it counts once it has answered. */
const probeMs = 1_000;

class WatchedRedis extends Redis {
  #timeouts = 0;

  override sendCommand(command: Command, ...stream: never[]): unknown {
    const answer = super.sendCommand(command, ...stream) as Promise<unknown>;
    answer.then(
      () => (this.#timeouts = 0),
      (error: Error) => this.#noteFailure(error),
    );
    return answer;
  }

  #noteFailure(error: Error): void {
    if (error.message !== 'Command timed out' || this.status !== 'ready') return;
    this.#timeouts += 1;
    if (this.#timeouts < timeoutsMax) return;
    this.#timeouts = 0;
    this.emit('error', new Error(`Redis left ${timeoutsMax} commands without an answer`));
    this.disconnect(true);
  }
}

/**
 * Opens a connection that may fail and recover: while Redis is unavailable commands fail at once instead of queueing,
 * and it reconnects as long as the service runs. Loss and recovery are one log line each.
 */
export function openRedis(url: string, log: Log): Redis {
  const redis = new WatchedRedis(url, {
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    // A silent one does not say goodbye.
    disconnectTimeout: 100,
    enableOfflineQueue: false,
    // A command that was cut off may have been counted.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => probeMs,
    connectionName: 'work-management-service',
  });
  let isAway = false;
  redis.on('error', (error: Error) => {
    if (!isAway) log.warn({ err: error }, 'Redis is away: each node counts for itself until it is back');
    isAway = true;
  });
  redis.on('ready', () => {
    if (isAway) log.info({}, 'Redis is back');
    isAway = false;
  });
  return redis;
}

/**
 * Resolves when the first connection is open or has failed, so that a service does not start without Redis by mistake.
 */
export async function waitUntilReady(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve) => {
    redis.once('ready', resolve);
    redis.once('error', () => resolve());
  });
}

/** Closes the connection cleanly, or cuts it if Redis does not answer. */
export async function closeRedis(redis: Redis): Promise<void> {
  await redis.quit().catch(() => {});
  redis.disconnect();
}
