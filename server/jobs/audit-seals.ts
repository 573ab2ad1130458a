import type { Services } from '../kernel/context.ts';
import { listUnsealedCompanies, sealCompany } from '../features/audit/seals.ts';
import { createPeriodicTask, type PeriodicTask } from '../platform/periodic-task.ts';

/** Seals the audit log of all companies each minute. Several nodes may do it at once: each skips what another one seals. */
export type AuditSealer = Pick<PeriodicTask, 'start' | 'stop'> & {
  /** Seals once; returns how many rows got a seal. */
  run(): Promise<number>;
};

const intervalMs = 60_000;
/** The nodes spread their rounds over a few seconds. */
const spreadMs = 5_000;

export function createAuditSealer(services: Pick<Services, 'database' | 'tokens' | 'log'>): AuditSealer {
  const { database, log } = services;

  async function run(): Promise<number> {
    let sealed = 0;
    // Each company is sealed in its own scope; all are read to find those that have something to seal.
    for (const companyId of await listUnsealedCompanies(database.acrossCompanies.db)) {
      for (let rows = 1; rows > 0 && !task.signal.aborted; sealed += rows)
        rows = await sealCompany(services, companyId);
    }
    return sealed;
  }

  const task = createPeriodicTask({
    firstAfterMs: intervalMs,
    async run() {
      const sealed = await run();
      if (sealed > 0) log.debug({ rows: sealed }, 'rows of the audit log were sealed');
      return intervalMs + Math.random() * spreadMs;
    },
    failed(error) {
      log.warn({ err: error }, 'the audit log was not sealed; next try in a minute');
      return intervalMs;
    },
  });
  return { start: task.start, run, stop: task.stop };
}
