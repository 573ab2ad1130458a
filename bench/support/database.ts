import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import { openServer } from '../../db/open.ts';
import type { Cluster } from './cluster.ts';
import { pin } from './machine.ts';
import { createDatabase } from './new-database.ts';
import { seed, type Sizes } from './seed.ts';
import type { World } from './world.ts';

/** A seeded database of the bench's own, which is dropped at its end. */
export type Bed = {
  url: string;
  world: World;
  client: pg.Client;
  /** Pins the server's processes for this database to cores, if they run on this machine and can be pinned. */
  pinTo(cores: string): Promise<boolean>;
};

type BedOptions = {
  name: string;
  sizes: Sizes;
  /** Whether commits wait for the disk, as they do for real; disks differ more between machines than anything else. */
  waitsForDisk: boolean;
  report: (what: string) => void;
};

export async function makeBed(cluster: Cluster, { name, sizes, waitsForDisk, report }: BedOptions): Promise<Bed> {
  const database = `wms_bench_${process.pid}_${name}`;
  const url = await createDatabase(cluster.url, database);
  const client = new pg.Client({ connectionString: url });
  // It is cut off when the database is dropped.
  client.on('error', () => {});
  await client.connect();
  if (!waitsForDisk) await client.query(`alter database ${database} set synchronous_commit = off`);
  const opened = openServer(url);
  try {
    await migrate(opened.db);
    const world = await seed(opened, client, sizes, report);
    return { url, world, client, pinTo: (cores) => pinBackends(client, cores) };
  } finally {
    await opened.close();
  }
}

async function pinBackends(client: pg.Client, cores: string): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database()`,
  );
  return pin(
    rows.map(({ pid }) => pid),
    cores,
  );
}
