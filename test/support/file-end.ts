const endings: (() => Promise<void>)[] = [];

/** Has `end` run after the last test and all hooks of the test file that asks; it may be asked for inside a test. */
export function atEndOfFile(end: () => Promise<void>): void {
  endings.push(end);
}

/** Runs what this file asked for, all at once; fails with the first of them that failed. */
export async function endFile(): Promise<void> {
  const ended = await Promise.allSettled(endings.splice(0).map((end) => end()));
  const failed = ended.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  if (failed) throw failed.reason;
}
