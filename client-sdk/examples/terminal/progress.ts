import { count } from './sentences.ts';

export type Progress = {
  /** How much is done by now. */
  update(done: number): void;
  /** Removes what was shown, where it can be removed. To be called at the end. */
  clear(): void;
};

/**
 * Shows how far long work is, on stderr: as one line that changes in a terminal, else as a line for each tenth of it, where
 * it is long, so that a log stays short and is the same each time. Says at Ctrl-C that what is under way is still waited for.
 */
export function showProgress(total: number, what: string, signal: AbortSignal): Progress {
  const { stderr } = process;
  let tenths = 0;
  const removeLine = (): void => {
    if (stderr.isTTY) stderr.write('\r\u001B[2K');
  };
  const onStop = (): void => {
    removeLine();
    stderr.write(`Stopping, when the ${what}s under way are stored. Ctrl-C again ends at once.\n`);
  };
  signal.addEventListener('abort', onStop, { once: true });
  return {
    update(done) {
      const text = `${done.toLocaleString('en')} of ${count(total, what)}`;
      if (stderr.isTTY) {
        stderr.write(`\r\u001B[2K${text}`);
        return;
      }
      if (total < loggedMin) return;
      const now = Math.floor((10 * done) / Math.max(total, 1));
      if (now > tenths) stderr.write(`${text}\n`);
      tenths = Math.max(now, tenths);
    },
    clear() {
      signal.removeEventListener('abort', onStop);
      removeLine();
    },
  };
}

/** Less than this is done before a log of it would help anybody. */
const loggedMin = 100;
