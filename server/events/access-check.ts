import { nameOf } from '../platform/credential.ts';
import { createPeriodicTask, type PeriodicTask } from '../platform/periodic-task.ts';
import { listLiveCredentials } from '../kernel/credentials.ts';
import type { Services } from '../kernel/context.ts';
import { NOT_FOUND } from '../errors/errors.ts';
import type { StreamName } from '../kernel/streams.ts';
import type { SubscribedStream } from './subscription.ts';

/** A subscriber who loses access receives nothing after this interval and the time of two statements. */
const intervalMs = 2_000;

/**
 * Ends connections whose session is over and subscriptions whose stream can no longer be read. The number of statements
 * does not depend on the number of subscribers.
 */
export function createAccessCheck(
  {
    database: { acrossCompanies },
    clock,
    log,
    connections,
  }: Pick<Services, 'database' | 'clock' | 'log' | 'connections'>,
  subscribed: ReadonlyMap<string, SubscribedStream>,
): PeriodicTask {
  async function endDeadConnections(): Promise<void> {
    // Deduplicated: one session may hold a thousand connections.
    const asked = new Map(connections.credentials().map((credential) => [nameOf(credential), credential]));
    if (asked.size === 0) return;
    const isLive = await listLiveCredentials(acrossCompanies.db, [...asked.values()], clock.now());
    connections.endWhere((credential) => asked.has(nameOf(credential)) && !isLive(credential));
  }

  async function endUnreadableStreams(): Promise<void> {
    const byKind = Map.groupBy(subscribed.values(), ({ kind }) => kind);
    for (const [kind, streams] of byKind) {
      if (!kind.findReadable) continue;
      const nameOfStream = ({ companyId, subject }: StreamName) => `${companyId} ${subject}`;
      const readable = new Set((await kind.findReadable(acrossCompanies.db, streams)).map(nameOfStream));
      for (const stream of streams)
        if (!readable.has(nameOfStream(stream)))
          for (const subscriber of stream.subscribers) subscriber.end(NOT_FOUND());
    }
  }

  return createPeriodicTask({
    firstAfterMs: intervalMs,
    async run() {
      await endDeadConnections();
      await endUnreadableStreams();
      return intervalMs;
    },
    failed(error) {
      log.warn({ err: error }, 'the access of subscribers could not be checked');
      return intervalMs;
    },
  });
}
