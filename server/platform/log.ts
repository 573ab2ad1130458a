import { pino, type DestinationStream, type Logger } from 'pino';
import { openLogOutput } from './log-output.ts';

export type { Logger } from 'pino';

/** The log of one part of the service. */
export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** Log lines as JSON. */
export function createLogger(options: { level: string; to?: DestinationStream }): Logger {
  return pino(
    { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: plainError } },
    options.to ?? openLogOutput(1),
  );
}

/** A database error contains the values of its row, which must not be logged. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    name,
    message,
    code,
    stack,
    cause: cause === undefined ? undefined : plainError(cause),
  };
}
