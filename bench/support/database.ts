import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import { openServer } from '../../db/open.ts';
import type { Cluster } from './cluster.ts';
import { pin } from './machine.ts';
import { seed, type Sizes } from './seed.ts';
import type { World } from './world.ts';

/** A seeded database of the bench's own. */
export type Bed = {
  url: string;
  world: World;
  client: pg.Client;
  /** Pins the server's processes for this database to cores, if they run on this machine and can be pinned. */
  pinTo(cores: string): Promise<boolean>;
  drop(): Promise<void>;
};

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

type BedOptions = {
  name: string;
  sizes: Sizes;
  /** Whether commits wait for the disk, as they do for real; disks differ more between machines than anything else. */
  waitsForDisk: boolean;
  report: (what: string) => void;
};

export async function makeBed(cluster: Cluster, { name, sizes, waitsForDisk, report }: BedOptions): Promise<Bed> {
  const database = `wms_bench_${process.pid}_${name}`;
  const url = Object.assign(new URL(cluster.url), { pathname: database }).href;
  const drop = () => runOn(cluster.url, `drop database if exists ${database} with (force)`);
  await runOn(cluster.url, `create database ${database}`);
  if (!waitsForDisk) await runOn(cluster.url, `alter database ${database} set synchronous_commit = off`);
  const client = new pg.Client({ connectionString: url });
  // It is cut off when the database is dropped.
  client.on('error', () => {});
  try {
    await client.connect();
    const opened = openServer(url);
    try {
      await migrate(opened.db);
      const world = await seed(opened, client, sizes, report);
      return { url, world, client, drop, pinTo: (cores) => pinBackends(client, cores) };
    } finally {
      await opened.close();
    }
  } catch (error) {
    await drop();
    throw error;
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
