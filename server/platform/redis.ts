import { Redis } from 'ioredis';
import type { Log } from './log.ts';

/** Longer than this nobody waits for Redis: the service answers without it. */
const commandTimeoutMs = 300;
const connectTimeoutMs = 2_000;
const reconnectMsMax = 5_000;

/**
 * Opens a connection that may come and go: while Redis is away commands fail at once instead of queueing, and it is
 * tried again for as long as the service runs. Its going and its return are one log line each.
 */
export function openRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    enableOfflineQueue: false,
    // A command that was cut off may have been counted already.
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

/** Answers when the first connection stands or has failed, so that a service does not begin without Redis by haste. */
export async function waitUntilReady(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve) => {
    redis.once('ready', resolve);
    redis.once('error', () => resolve());
  });
}

/** Says goodbye, or hangs up where Redis does not listen. */
export async function closeRedis(redis: Redis): Promise<void> {
  await redis.quit().catch(() => {});
  redis.disconnect();
}
