import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../db/migrate.ts';
import { embeddedExtensions, openServer, wrapEmbedded } from '../../db/open.ts';
import { secureTables } from '../../db/row-security.ts';

/** Where a test file finds a migrated database to clone. */
export type Template = { kind: 'embedded'; dumpFile: string } | { kind: 'server'; url: string; database: string };

declare module 'vitest' {
  interface ProvidedContext {
    template: Template;
  }
}

/** Migrates one database before all tests: in memory, or on the PostgreSQL server that TEST_DATABASE_URL names. */
export default async function prepare(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env['TEST_DATABASE_URL'];
  return url === undefined || url === '' ? prepareEmbedded(project) : prepareServer(project, url);
}

async function prepareEmbedded(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'wms-template-'));
  const dumpFile = join(folder, 'dump.tar');
  const pglite = await PGlite.create({ extensions: embeddedExtensions });
  const { db } = wrapEmbedded(pglite).owner;
  await migrate(db);
  await secureTables(db);
  const dump = await pglite.dumpDataDir('none');
  await pglite.close();
  await writeFile(dumpFile, Buffer.from(await dump.arrayBuffer()));
  project.provide('template', { kind: 'embedded', dumpFile });
  return () => rm(folder, { recursive: true });
}

async function prepareServer(project: TestProject, url: string): Promise<() => Promise<void>> {
  const name = `wms_template_${process.pid}`;
  await runOn(url, `create database ${name}`);
  const database = openServer(withDatabase(url, name));
  await migrate(database.owner.db);
  await secureTables(database.owner.db);
  await database.close();
  project.provide('template', { kind: 'server', url, database: name });
  return () => runOn(url, `drop database ${name} with (force)`);
}

export async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
