/*
 * What a bench has started or made is ended with it: at its end, and where it ends early, by a signal or because nobody reads
 * its output any more, as behind `| head`.
 */

const steps: (() => unknown)[] = [];
let ending = Promise.resolve();

/** Has something be done at the end, before what earlier calls asked for. */
export function atEnd(step: () => unknown): void {
  steps.push(step);
}

async function runAll(last: (() => unknown)[]): Promise<void> {
  for (const step of last)
    try {
      await step();
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
    }
}

/** Does what was asked for, the last first, and leaves the first ones, so many, for later; a step that fails says so. */
export function endAll(left = 0): Promise<void> {
  const last = steps.splice(left).toReversed();
  ending = ending.then(() => runAll(last));
  return ending;
}

/** Runs a part of a bench, and then what that part asked for. */
export async function endedAfter<Result>(part: () => Promise<Result>): Promise<Result> {
  const before = steps.length;
  try {
    return await part();
  } finally {
    await endAll(before);
  }
}

let isEarly = false;
function endEarly(code: number): void {
  if (isEarly) return;
  isEarly = true;
  void endAll().finally(() => process.exit(code));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => endEarly(130));
for (const output of [process.stdout, process.stderr]) output.on('error', () => endEarly(1));
