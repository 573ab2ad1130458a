import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { readState } from '../../../db/migrate.ts';
import type { Database } from '../../../db/open.ts';
import { SERVICE_UNAVAILABLE } from '../../errors/errors.ts';

const patienceMs = 2_000;

/** /healthz: the process runs. /readyz: it can serve; otherwise a balancer sends requests elsewhere. */
export function registerHealth(
  app: FastifyInstance,
  { database, isClosing }: { database: Database; isClosing(): boolean },
): void {
  const config = { servesWhileClosing: true };
  app.get('/healthz', { config }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config }, async () => {
    if (isClosing()) throw SERVICE_UNAVAILABLE({ detail: 'The service is shutting down.' });
    const { pending, incompatible, isReadOnly } = await answerInTime(readState(database.owner.db));
    if (isReadOnly)
      throw SERVICE_UNAVAILABLE({ detail: 'The database takes no writes: it is a standby, or set to read-only.' });
    if (incompatible.length > 0)
      throw SERVICE_UNAVAILABLE({
        detail: `The database was migrated by a newer version (it has ${incompatible.join(', ')}), which this one cannot serve on.`,
      });
    if (pending.length > 0)
      throw SERVICE_UNAVAILABLE({ detail: 'The database lacks a migration.', retryAfterSeconds: 10 });
    return { status: 'ready' };
  });
}

async function answerInTime<Answer>(work: Promise<Answer>): Promise<Answer> {
  const given = new AbortController();
  const tooLate = delay(patienceMs, undefined, { signal: given.signal }).then(() => {
    throw new Error(`no answer within ${patienceMs} ms`);
  });
  try {
    return await Promise.race([work, tooLate]);
  } catch (error) {
    throw SERVICE_UNAVAILABLE({ detail: 'The database does not answer.', cause: error });
  } finally {
    given.abort();
    tooLate.catch(() => {});
  }
}
