import type { Redis } from 'ioredis';
import type { Bus } from '../../db/bus.ts';

const channel = 'wms:events';

/** The bus over Redis, which relieves the database of the messages. */
export function createRedisBus(redis: Redis): Bus {
  const listeners = new Set<(message: string | undefined) => void>();
  let subscriber: Redis | undefined;
  return {
    send: (message) => void redis.publish(channel, message).catch(() => {}),
    listen(receive) {
      if (!subscriber) {
        const connection = redis.duplicate({ autoResubscribe: false, commandTimeout: undefined });
        subscriber = connection;
        // The original client logs the outage.
        connection.on('error', () => {});
        // The driver would do so itself, but a connection that ends before the answer would end the process with it.
        connection.on('ready', () => {
          connection.subscribe(channel).then(
            () => listeners.forEach((listener) => listener(undefined)),
            () => {},
          );
        });
        connection.on('message', (_channel: string, message: string) =>
          listeners.forEach((listener) => listener(message)),
        );
        // After an outage without a word this connection would stay silent.
        redis.on('ready', () => subscriber?.disconnect(true));
      }
      listeners.add(receive);
    },
    async close() {
      subscriber?.disconnect();
    },
  };
}
