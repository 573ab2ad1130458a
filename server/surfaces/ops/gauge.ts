import { Gauge, type Registry } from 'prom-client';

/** Registers a gauge that is read at each scrape; without a value it is left out. */
export function registerGauge(registry: Registry, name: string, help: string, read: () => number | undefined): void {
  // oxlint-disable-next-line no-new -- a gauge registers itself
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      const value = read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
}
