import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A pipe of the operating system, as a shell makes them, of which the test holds the reading end. */
export type Pipe = {
  /** For the standard output or error of a process; closed by {@link handOver}. */
  writingEnd: number;
  /** To be called when the process has been started, so that it alone holds the writing end. */
  handOver(): void;
  /** Takes what has come; at most `bytesMax` of it. */
  read(bytesMax?: number): string;
  /** Writes until nothing more goes in, so that the process finds it full. */
  fill(): void;
  /** As `| head` does once it has seen enough. */
  closeReader(): void;
  remove(): void;
};

export function makePipe(): Pipe {
  const folder = mkdtempSync(join(tmpdir(), 'wms-pipe-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writingEnd = openSync(path, constants.O_WRONLY);
  const buffer = Buffer.alloc(1024 * 1024);
  let isReaderOpen = true;
  const closeReader = (): void => {
    if (isReaderOpen) closeSync(reader);
    isReaderOpen = false;
  };
  return {
    writingEnd,
    handOver: () => closeSync(writingEnd),
    read(bytesMax = buffer.length) {
      const length = orNone(() => readSync(reader, buffer, 0, bytesMax, null));
      return buffer.toString('utf8', 0, length);
    },
    fill() {
      // An opening of its own: what does not wait here must not make the process not wait.
      const filler = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      for (const size of [4096, 1]) while (orNone(() => writeSync(filler, 'x'.repeat(size))) > 0);
      closeSync(filler);
    },
    closeReader,
    remove() {
      closeReader();
      rmSync(folder, { recursive: true });
    },
  };
}

function orNone(act: () => number): number {
  try {
    return act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}
