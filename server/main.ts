import { bannerOf } from './startup/banner.ts';
import { BadSetting, readConfig } from './config.ts';
import { openLogOutput } from './platform/log-output.ts';
import { createLogger } from './platform/log.ts';

/*
 * The process: only it reads the environment. It starts the service and stops it on a signal. It exits with 0 if it was
 * asked to stop and everything in progress was finished, else with 1. It never waits for the reader of its output: a
 * stop takes 15 seconds at most, including the last lines.
 */

/** Longer than the slowest request needs to finish, shorter than the usual limit of orchestrators. */
const stopWithinMs = 14_000;
/** A terminal and npm both forward Ctrl-C: two signals within this time are one request. */
const sameWishMs = 500;
/** Time for the last lines to be read. */
const lastLinesMs = 500;

// Files of the service are readable for its own user only.
process.umask(0o077);

const output = openLogOutput(1);
// The first use of these streams makes a pipe non-blocking. A reader may go away at any time (`npm start | head`): the
// service continues without it.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

async function exit(code: 0 | 1): Promise<void> {
  await output.flush(lastLinesMs);
  // A terminal that was stopped with Ctrl-S holds the write, and an exit would wait for it.
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
// The service takes a second to load: a bad setting is refused before.
const starting = import('./start.ts').then(({ start }) => start(config, logger));

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
    // A running start is finished first; if it fails, that is reported below.
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
  const { CannotStart } = await import('./startup/cannot-start.ts');
  if (!(error instanceof CannotStart)) throw error;
  await refuse(error.message);
}
