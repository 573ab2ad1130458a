import type { Call, Paged } from './call-types.ts';

/** A page of a list: the next one has a number, or is named by a cursor. */
export type AnyPage<Item> = { results: Item[]; page?: number; totalPages?: number; nextCursor?: string | null };
export type NextPage = { page: number } | { cursor: string };

/** A list whose first page is requested at once, and the others during a loop. */
export function paged<Item, Page extends AnyPage<Item>>(
  first: Call<Page>,
  read: (next: NextPage) => Promise<Page>,
): Paged<Item, Page> {
  async function* items(): AsyncGenerator<Item> {
    const seen = new Set<unknown>();
    let current = await first;
    for (;;) {
      const next = nextOf(current);
      for (const item of current.results) {
        // New items during the loop push items to the next page, unless a cursor names it.
        const { _id: id } = item as { _id?: unknown };
        if (current.nextCursor === undefined && id !== undefined) {
          if (seen.has(id)) continue;
          seen.add(id);
        }
        yield item;
      }
      if (!next) return;
      current = await read(next);
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items });
}

function nextOf({ page = 1, totalPages = 1, nextCursor }: AnyPage<unknown>): NextPage | undefined {
  if (nextCursor !== undefined) return nextCursor === null ? undefined : { cursor: nextCursor };
  return page < totalPages ? { page: page + 1 } : undefined;
}
