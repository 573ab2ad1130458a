import type { Page, Paged } from './call-types.ts';

/** A list whose first page is requested at once, and the others during a loop. */
export function paged<Item>(first: Promise<Page<Item>>, read: (page: number) => Promise<Page<Item>>): Paged<Item> {
  async function* items(): AsyncGenerator<Item> {
    const seen = new Set<unknown>();
    let current = await first;
    for (;;) {
      for (const item of current.results) {
        // New items during the loop push items to the next page.
        const { _id: id } = item as { _id?: unknown };
        if (id !== undefined && seen.has(id)) continue;
        seen.add(id);
        yield item;
      }
      if (current.page >= current.totalPages) return;
      current = await read(current.page + 1);
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items });
}
