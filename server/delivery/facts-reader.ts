import type { Database } from '../../db/open.ts';
import type { Settings } from '../kernel/context.ts';
import { keyOf, type StoredFact, type StreamEvent, type StreamKind } from '../kernel/streams.ts';
import { createTurnstile } from '../kernel/turnstile.ts';
import type { Recent, Shown } from './recent.ts';
import { listFacts } from './stored-facts.ts';

/** How many pages are made at once for those who are behind: they hold up neither each other nor the database for long. */
const pagesAtOnce = 4;

/** Where somebody who is behind stands in a stream. */
type Place = { companyId: number; stream: string; cursor: number };

export type FactsReader = {
  /** Has facts of one company shown, and keeps the events; nothing gets out that the kind does not declare. */
  show<Event extends StreamEvent>(kind: StreamKind<Event>, facts: StoredFact[]): Promise<Shown<Event>[]>;
  /**
   * What comes next at a place, at most so much of it; empty where it is no longer in the table. Where it was read for
   * somebody else meanwhile, it is that alone.
   */
  readOn<Event extends StreamEvent>(kind: StreamKind<Event>, place: Place, limit: number): Promise<Shown<Event>[]>;
};

export function createFactsReader(
  { database, settings }: { database: Database; settings: Settings },
  recent: Recent,
): FactsReader {
  const inTurn = createTurnstile(pagesAtOnce, Infinity);

  async function show<Event extends StreamEvent>(kind: StreamKind<Event>, facts: StoredFact[]) {
    const [first] = facts;
    if (!first) return [];
    const { db } = database.forCompany(first.companyId);
    const shown = await kind.show({ db, settings }, first.companyId, facts);
    return shown.map((event, index) => {
      const { companyId, stream } = facts[index]!;
      return recent.keep(keyOf(companyId, stream), kind.event.parse(event));
    });
  }

  async function readOn<Event extends StreamEvent>(
    kind: StreamKind<Event>,
    { companyId, stream, cursor }: Place,
    limit: number,
  ) {
    const read = recent.find<Event>(keyOf(companyId, stream), cursor + 1);
    if (read) return [read];
    const { db } = database.forCompany(companyId);
    const facts = await listFacts(db, [{ companyId, stream, position: cursor }], limit);
    return facts[0]?.sequence === cursor + 1 ? show(kind, facts) : [];
  }

  return { show, readOn: (kind, place, limit) => inTurn(() => readOn(kind, place, limit)) };
}
