import { Counter, type Registry } from 'prom-client';
import type { Database } from '../../../db/open.ts';
import { registerGauge } from './gauge.ts';

/** Registers metrics of the read replica; without DATABASE_REPLICA_URL they have no values. */
export function registerReplicaMetrics(registry: Registry, { replica }: Pick<Database, 'replica'>): void {
  registerGauge(registry, 'replica_used', '1 where the replica takes long reads, 0 where the primary does', () => {
    const state = replica?.state();
    return state && (state.obstacle === undefined ? 1 : 0);
  });
  const lag = 'Time that the replica takes to have what the primary has stored';
  registerGauge(registry, 'replica_lag_seconds', lag, () => {
    const lagMs = replica?.state().lagMs;
    return lagMs === undefined ? undefined : lagMs / 1_000;
  });
  // oxlint-disable-next-line no-new -- a counter registers itself
  new Counter({
    name: 'replica_reads_total',
    help: 'Statements of long reads, by the server that answered',
    labelNames: ['server'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const [server, count] of Object.entries(replica?.state().reads ?? {})) this.inc({ server }, count);
    },
  });
}
