import { Redis } from 'ioredis';
import type { Log } from './log.ts';

/** The longest wait for Redis: after it the service answers without it. */
const commandTimeoutMs = 300;
const connectTimeoutMs = 2_000;
const reconnectMsMax = 5_000;

/**
 * Opens a connection that may fail and recover: while Redis is unavailable commands fail at once instead of queueing,
 * and it reconnects as long as the service runs. Loss and recovery are one log line each.
 */
export function openRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    enableOfflineQueue: false,
    // A command that was cut off may have been counted.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 200, reconnectMsMax),
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
