import { nameOf } from '../kernel/connections.ts';
import { listLiveCredentials } from '../kernel/credentials.ts';
import { NOT_FOUND } from '../kernel/faults.ts';
import type { StreamName } from '../kernel/streams.ts';
import type { Followed, TailServices } from './tail.ts';

/** How often it is looked up who may still listen; whoever may not any more hears nothing after this, and the lookup. */
export const watchMs = 2_000;

/**
 * Looks up whether those who are connected may still be, and whether what they follow may still be read: a fixed
 * number of statements, however many they are.
 */
export function createWatch(
  { database: { acrossCompanies }, clock, connections }: TailServices,
  followed: ReadonlyMap<string, Followed>,
): () => Promise<void> {
  async function endOver(): Promise<void> {
    // One session may hold a thousand connections.
    const asked = new Map(connections.credentials().map((credential) => [nameOf(credential), credential]));
    if (asked.size === 0) return;
    const isLive = await listLiveCredentials(acrossCompanies.db, [...asked.values()], clock.now());
    connections.endWhere((credential) => asked.has(nameOf(credential)) && !isLive(credential));
  }

  async function endUnreadable(): Promise<void> {
    const byKind = Map.groupBy(followed.values(), ({ kind }) => kind);
    for (const [kind, streams] of byKind) {
      if (!kind.findReadable) continue;
      const placeOf = ({ companyId, subject }: StreamName) => `${companyId} ${subject}`;
      const readable = new Set((await kind.findReadable(acrossCompanies.db, streams)).map(placeOf));
      for (const one of streams)
        if (!readable.has(placeOf(one))) for (const follower of one.followers) follower.end(NOT_FOUND());
    }
  }

  return async () => {
    await endOver();
    await endUnreadable();
  };
}
