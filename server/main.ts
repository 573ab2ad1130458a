import { bannerOf } from './startup/banner.ts';
import { CannotStart } from './startup/cannot-start.ts';
import { BadSetting, readConfig } from './config.ts';
import { openLogOutput } from './platform/log-output.ts';
import { createLogger } from './platform/log.ts';
import { start } from './start.ts';

/*
 * The process: reads the environment, and nothing else does; starts the service, ends it on a signal.
 * It exits with 0 when it was asked to end and all that had begun was finished, else with 1.
 * Nothing of that waits for the reader of its output: an ending takes 15 seconds at most, the last lines included.
 */

/** Longer than the slowest request may take to be finished, shorter than what orchestrators grant by custom. */
const stopWithinMs = 14_000;
/** A terminal and npm both pass Ctrl-C on: that is one wish, not two. */
const sameWishMs = 500;
/** Time for the last lines to be read. */
const lastLinesMs = 500;

// All that the service writes is for its own user.
process.umask(0o077);

const output = openLogOutput(1);
// The first use of these makes a pipe one that never keeps the process waiting. A reader may go at any time (`npm start | head`):
// the service is there for others as well, and goes on unheard.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

async function exit(code: 0 | 1): Promise<void> {
  await output.flush(lastLinesMs);
  // A terminal that was halted by Ctrl-S holds the write, and an exit would wait for it.
  if (output.isWriting()) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}

async function refuse(sentence: string): Promise<void> {
  process.stderr.write(`${sentence}\n`);
  await exit(1);
}

function read() {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const config = read();
const logger = createLogger({ level: config.LOG_LEVEL, to: output });
let stoppingSince: number | undefined;
const starting = start(config, logger);

function end(signal: NodeJS.Signals): void {
  if (stoppingSince !== undefined) {
    if (performance.now() - stoppingSince < sameWishMs) return;
    logger.warn({ signal }, 'ended at once, at the second signal');
    void exit(1);
    return;
  }
  stoppingSince = performance.now();
  logger.info({ signal }, 'stopping: finishing what has begun');
  setTimeout(() => {
    logger.error({ stopWithinMs }, 'ended although something was still running');
    void exit(1);
  }, stopWithinMs);
  void stop();
}

async function stop(): Promise<void> {
  try {
    // A start that is under way is finished first; where it fails, that is said below.
    const running = await starting;
    await running.stop();
    logger.info({}, 'stopped');
  } catch (error) {
    logger.error({ err: error }, 'could not stop in order');
    await exit(1);
  }
  await exit(0);
}

function crash(error: unknown): void {
  logger.error({ err: error }, 'ended by an error that nothing expected');
  void exit(1);
}

process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);
process.on('SIGTERM', end);
process.on('SIGINT', end);

try {
  output.write(bannerOf(await starting));
} catch (error) {
  if (!(error instanceof CannotStart)) throw error;
  await refuse(error.message);
}
