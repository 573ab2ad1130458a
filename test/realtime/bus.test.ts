import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import type { Bus } from '../../db/bus.ts';
import { openServer } from '../../db/open.ts';
import { createRedisBus } from '../../server/platform/redis-bus.ts';
import { closeRedis, waitUntilReady, openRedis } from '../../server/platform/redis.ts';
import { openClone } from '../support/database.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

/** What a bus brings, from the moment on from which it hears everything. */
async function hear(bus: Bus): Promise<(string | undefined)[]> {
  const heard: (string | undefined)[] = [];
  bus.listen((message) => void heard.push(message));
  await waitUntil(() => heard.length > 0);
  return heard;
}

const template = inject('template');

describe.skipIf(template.kind === 'embedded')('between processes on one PostgreSQL server', () => {
  function open() {
    if (template.kind === 'embedded') throw new Error('there is no server');
    const database = openServer(template.url);
    onTestFinished(() => database.close());
    return database;
  }

  test('a message reaches all who listen, the sender included', async () => {
    const [here, there] = [open(), open()];
    const [own, other] = await Promise.all([hear(here.bus), hear(there.bus)]);
    const messages: string[] = Array.from({ length: 300 }, () => randomUUID());
    for (const message of messages) here.bus.send(message);
    for (const heard of [own, other])
      await waitFor(() => expect(heard.filter((one) => messages.includes(one ?? ''))).toEqual(messages));
  });

  test('a listener whose connection breaks gets another one, and learns that it may have missed something', async () => {
    const [here, there] = [open(), open()];
    const heard = await hear(there.bus);
    await hear(here.bus);
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'work-management-service events' and query like 'listen %' and pid <> pg_backend_pid()`.execute(
      here.db,
    );
    await waitFor(() => expect(heard.filter((one) => one === undefined)).toHaveLength(2));
    const message = randomUUID();
    await waitFor(() => {
      here.bus.send(message);
      expect(heard).toContain(message);
    });
  });
});

test.skipIf(template.kind === 'server')('a message is heard in the one process of an embedded database', async () => {
  const database = await openClone();
  const heard: (string | undefined)[] = [];
  database.bus.listen((message) => void heard.push(message));
  database.bus.send('look');
  expect(heard).toEqual(['look']);
  await database.close();
});

const redisUrl = process.env['TEST_REDIS_URL'] ?? '';

test.skipIf(redisUrl === '')('a message through Redis reaches all who listen', async () => {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const open = async () => {
    const redis = openRedis(redisUrl, log);
    await waitUntilReady(redis);
    const bus = createRedisBus(redis);
    onTestFinished(async () => {
      await bus.close();
      await closeRedis(redis);
    });
    return bus;
  };
  const [here, there] = [await open(), await open()];
  const [own, other] = await Promise.all([hear(here), hear(there)]);
  const message = randomUUID();
  await waitFor(() => {
    here.send(message);
    expect([own.includes(message), other.includes(message)]).toEqual([true, true]);
  });
});
