import type { Database } from '../../db/open.ts';
import type { Settings } from '../kernel/context.ts';
import { keyOf, type StoredFact, type StreamEvent, type StreamKind } from '../kernel/streams.ts';
import { batchesOf } from '../kernel/json-stream.ts';
import { createTurnstile } from '../kernel/turnstile.ts';
import type { Recent, Shown } from './recent.ts';
import { listFacts } from './stored-facts.ts';

/** How many pages are made at once for those who are behind: they hold up neither each other nor the database for long. */
const pagesAtOnce = 4;

/** What is shown and held at once: so many events, and about so many bytes of them, or one that is longer by itself. */
const shownMax = 100;
const shownBytesMax = 256 * 1024;
/** So few are shown without being weighed: that would cost more than it could spare. */
const unweighedMax = 4;

/** Where somebody who is behind stands in a stream. */
type Place = { companyId: number; stream: string; cursor: number };

export type FactsReader = {
  /** Facts of one company in the parts in which they are to be shown, each of which is short enough to be held. */
  partsOf<Event extends StreamEvent>(kind: StreamKind<Event>, facts: StoredFact[]): Promise<StoredFact[][]>;
  /** Has facts of one company shown, and keeps the events; nothing gets out that the kind does not declare. */
  show<Event extends StreamEvent>(kind: StreamKind<Event>, facts: StoredFact[]): Promise<Shown<Event>[]>;
  /**
   * What comes next at a place, as much of it as is held at once; empty where it is no longer in the table. Where it was read for
   * somebody else meanwhile, it is that alone.
   */
  readOn<Event extends StreamEvent>(kind: StreamKind<Event>, place: Place): Promise<Shown<Event>[]>;
};

export function createFactsReader(
  { database, settings }: { database: Database; settings: Settings },
  recent: Recent,
): FactsReader {
  const inTurn = createTurnstile(pagesAtOnce, Infinity);

  async function partsOf<Event extends StreamEvent>(kind: StreamKind<Event>, facts: StoredFact[]) {
    const [first] = facts;
    if (!first || facts.length <= unweighedMax) return first ? [facts] : [];
    const { db } = database.forCompany(first.companyId);
    const weights = (await kind.weigh?.(db, first.companyId, facts)) ?? [];
    const sizes = { countMax: shownMax, weightMax: shownBytesMax };
    return [...batchesOf(facts.keys(), (index) => weights[index] ?? 0, sizes)].map((part) =>
      part.map((index) => facts[index]!),
    );
  }

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

  async function readOn<Event extends StreamEvent>(kind: StreamKind<Event>, { companyId, stream, cursor }: Place) {
    const read = recent.find<Event>(keyOf(companyId, stream), cursor + 1);
    if (read) return [read];
    const { db } = database.forCompany(companyId);
    const facts = await listFacts(db, [{ companyId, stream, position: cursor }], shownMax);
    if (facts[0]?.sequence !== cursor + 1) return [];
    const [next = []] = await partsOf(kind, facts);
    return show(kind, next);
  }

  return { partsOf, show, readOn: (kind, place) => inTurn(() => readOn(kind, place)) };
}
