/** A source of choices that one seed decides: the same seed gives the same ones. */
export type Random = {
  /** At least `min`, at most `max`. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** By weight: `weighted({ a: 3, b: 1 })` is `a` three times out of four. */
  weighted<Name extends string>(weights: Record<Name, number>): Name;
  subset<Item>(items: readonly Item[], probability: number): Item[];
};

/** The choices of one request: each request has its own, so one more or less before it changes nothing. */
export function createRandom(seed: number, index: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const chance = (probability: number) => next() < probability;
  return {
    int,
    chance,
    pick: (items) => items[int(0, items.length - 1)]!,
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      return (entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0]!)[0];
    },
    subset: (items, probability) => items.filter(() => chance(probability)),
  };
}
