import { bannerOf } from './banner.ts';
import { CannotStart } from './cannot-start.ts';
import { BadSetting, readConfig } from './config.ts';
import { createLogger } from './log.ts';
import { start } from './start.ts';

/*
 * The process: reads the environment, and nothing else does; starts the service, ends it on a signal.
 * It exits with 0 when it was asked to end and all that had begun was finished, else with 1.
 */

/** Longer than the slowest request may take to be finished, shorter than what orchestrators grant by custom. */
const stopWithinMs = 15_000;
/** A terminal and npm both pass Ctrl-C on: that is one wish, not two. */
const sameWishMs = 500;

function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

function read() {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (error instanceof BadSetting) refuse(error.message);
    throw error;
  }
}

const config = read();
const logger = createLogger({ level: config.LOG_LEVEL });
let stoppingSince: number | undefined;
const starting = start(config, logger);

function end(signal: NodeJS.Signals): void {
  if (stoppingSince !== undefined) {
    if (performance.now() - stoppingSince < sameWishMs) return;
    logger.warn({ signal }, 'ended at once, at the second signal');
    process.exit(1);
  }
  stoppingSince = performance.now();
  logger.info({ signal }, 'stopping: finishing what has begun');
  setTimeout(() => {
    logger.error({ stopWithinMs }, 'ended although something was still running');
    process.exit(1);
  }, stopWithinMs);
  // A start that is under way is finished first; where it fails, that is said below.
  const stopped = starting.then((running) => running.stop());
  stopped.then(
    () => {
      logger.info({}, 'stopped');
      process.exit(0);
    },
    (error: unknown) => {
      logger.error({ err: error }, 'could not stop in order');
      process.exit(1);
    },
  );
}

/** Time for the last line to be written before the end. */
const lastLineMs = 100;

function crash(error: unknown): void {
  // Not as fatal: pino would write that at once, and try for ever where nobody reads the output any more.
  logger.error({ err: error }, 'ended by an error that nothing expected');
  setTimeout(() => process.exit(1), lastLineMs);
}

// Whoever read the output has gone (`npm start | head`): the service is there for others as well, and goes on unheard.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});
process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);
process.on('SIGTERM', end);
process.on('SIGINT', end);

try {
  process.stdout.write(bannerOf(await starting));
} catch (error) {
  if (error instanceof CannotStart) refuse(error.message);
  throw error;
}
