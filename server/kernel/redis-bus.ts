import type { Redis } from 'ioredis';
import type { Bus } from '../../db/bus.ts';

const channel = 'wms:events';

/** The same through Redis, which spares the database the messages. */
export function createRedisBus(redis: Redis): Bus {
  let subscriber: Redis | undefined;
  return {
    send: (message) => void redis.publish(channel, message).catch(() => {}),
    listen(hear) {
      if (!subscriber) {
        subscriber = redis.duplicate({ enableOfflineQueue: true, commandTimeout: undefined });
        // The one that it is made from tells of its going and coming.
        subscriber.on('error', () => {});
        void subscriber.subscribe(channel).catch(() => {});
      }
      subscriber.on('message', (_channel: string, message: string) => hear(message));
      subscriber.on('ready', () => hear(undefined));
    },
    async close() {
      subscriber?.disconnect();
    },
  };
}
