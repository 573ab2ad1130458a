import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../db/migrate.ts';
import { openServer } from '../../db/open.ts';
import { secureTables } from '../../db/row-security.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { makeEmbeddedTemplate, type EmbeddedTemplate } from './embedded-template.ts';

/** Where a test file finds a migrated database to clone. */
export type Template =
  | ({ kind: 'embedded' } & EmbeddedTemplate)
  /**
   * `create database x ${copy}` clones it. By way of `poolerUrl` services reach the server through PgBouncer, where TEST_DATABASE_POOLER
   * asks for that.
   */
  | { kind: 'server'; url: string; copy: string; poolerUrl: string | undefined };

declare module 'vitest' {
  interface ProvidedContext {
    template: Template;
  }
}

/** Provides one migrated database for all tests: an embedded one, or one on the server that TEST_DATABASE_URL names. */
export default async function prepare(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const url = process.env['TEST_DATABASE_URL'];
  if (url !== undefined && url !== '') return prepareServer(project, url);
  project.provide('template', { kind: 'embedded', ...(await makeEmbeddedTemplate()) });
  return undefined;
}

async function prepareServer(project: TestProject, url: string): Promise<() => Promise<void>> {
  const name = `wms_template_${process.pid}`;
  await runOn(url, `create database ${name}`);
  const database = openServer(withDatabase(url, name));
  await migrate(database.owner.db);
  await secureTables(database.owner.db);
  await database.close();
  const pooler = process.env['TEST_DATABASE_POOLER'] === 'transaction' ? await startPgBouncer(url) : undefined;
  project.provide('template', { kind: 'server', url, copy: await copyOf(url, name), poolerUrl: pooler?.url });
  return async () => {
    await pooler?.close();
    await runOn(url, `drop database ${name} with (force)`);
  };
}

/**
 * A copy of files takes a third of the time of one by way of the log, but for the checkpoints that it makes: where they wait
 * for a disk it takes longer.
 */
async function copyOf(url: string, database: string): Promise<string> {
  const [setting] = await runOn(url, 'show fsync');
  return `template ${database}${setting?.['fsync'] === 'off' ? ' strategy file_copy' : ''}`;
}

export async function runOn(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return rows;
  } finally {
    await client.end();
  }
}

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
