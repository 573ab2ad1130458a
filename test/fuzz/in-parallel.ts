/** Runs all, so many at once; answers in the order of the items. */
export async function inParallel<Item, Result>(
  items: Item[],
  concurrency: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < items.length; index = next++) results[index] = await run(items[index]!);
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}
