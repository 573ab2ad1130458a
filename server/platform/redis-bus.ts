import type { Redis } from 'ioredis';
import type { Bus } from '../../db/bus.ts';

const channel = 'wms:events';

/** The bus over Redis, which relieves the database of the messages. */
export function createRedisBus(redis: Redis): Bus {
  let subscriber: Redis | undefined;
  return {
    send: (message) => void redis.publish(channel, message).catch(() => {}),
    listen(receive) {
      if (!subscriber) {
        subscriber = redis.duplicate({ enableOfflineQueue: true, commandTimeout: undefined });
        // The original client logs the outage.
        subscriber.on('error', () => {});
        void subscriber.subscribe(channel).catch(() => {});
        // After an outage without a word this connection would stay silent.
        redis.on('ready', () => subscriber?.disconnect(true));
      }
      subscriber.on('message', (_channel: string, message: string) => receive(message));
      subscriber.on('ready', () => receive(undefined));
    },
    async close() {
      subscriber?.disconnect();
    },
  };
}
