import { write } from 'node:fs';

/**
 * Writes log lines to a file descriptor whose reader may be slow or gone. Writing never waits and never throws. Unread
 * lines are buffered up to a bound; further lines are dropped, and a later line reports how many.
 */
export type LogOutput = {
  write(text: string): void;
  /**
   * The last call: resolves when all lines are written or nobody read them within `withinMs`; after twice that time if
   * the system holds a write.
   */
  flush(withinMs: number): Promise<void>;
  /** Whether the system still holds a write: until it returns the process cannot exit, only be killed. */
  isWriting(): boolean;
};

type Write = (fd: number, bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;

const waitingMax = 4 * 1024 * 1024;
const retryMs = 50;
/** Codes of a reader that is gone for good; after other errors the next lines are tried. */
const goneCodes = new Set(['EPIPE', 'EBADF', 'ECONNRESET']);

export function openLogOutput(fd: number, writeTo: Write = write): LogOutput {
  let waiting = '';
  let dropped = 0;
  /** The part that is being written and was not accepted yet. */
  let chunk: Buffer = Buffer.alloc(0);
  let state: 'idle' | 'writing' | 'full' | 'gone' = 'idle';
  let isGivenUp = false;
  let onRest: (() => void)[] = [];

  function rest(as: 'idle' | 'full' | 'gone'): void {
    state = as;
    for (const tell of onRest) tell();
    onRest = [];
  }

  async function restWithin(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    await Promise.race([new Promise<void>((resolve) => onRest.push(resolve)), late]);
    clearTimeout(timer);
  }

  function takeChunk(): void {
    if (dropped > 0) waiting += droppedLine(dropped);
    chunk = Buffer.from(waiting);
    waiting = '';
    dropped = 0;
  }

  function next(): void {
    if (isGivenUp) return rest('full');
    if (chunk.length === 0) takeChunk();
    if (chunk.length === 0) return rest('idle');
    state = 'writing';
    writeTo(fd, chunk, (error, written) => {
      if (error === null) chunk = chunk.subarray(written);
      else if (error.code === 'EAGAIN') {
        if (isGivenUp) return rest('full');
        state = 'full';
        setTimeout(next, retryMs);
        return;
      } else if (goneCodes.has(error.code ?? '')) return rest('gone');
      // A full disk loses these lines; later ones may succeed.
      else chunk = Buffer.alloc(0);
      next();
    });
  }

  return {
    write(text) {
      if (state === 'gone') return;
      if (waiting.length + text.length > waitingMax) dropped += 1;
      else waiting += text;
      if (state === 'idle') next();
    },
    async flush(withinMs) {
      if (state === 'idle' || state === 'gone') return;
      await restWithin(withinMs);
      // Another attempt may just have begun: it returns at once, unless the system holds it.
      isGivenUp = true;
      if (state === 'writing') await restWithin(withinMs);
    },
    isWriting: () => state === 'writing',
  };
}

const droppedLine = (dropped: number): string =>
  `${JSON.stringify({ level: 40, time: new Date().toISOString(), dropped, msg: 'log lines were dropped: nobody took them in time' })}\n`;
