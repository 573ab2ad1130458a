const startedAt = performance.now();

/** Says what was done or comes next, behind the seconds since the start. */
export function reportProgress(what: string): void {
  process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s: ${what}\n`);
}

/** Milliseconds that a call takes. */
export async function timed(call: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await call();
  return performance.now() - from;
}

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
