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
  /** By way of `poolerUrl` services reach the server through PgBouncer, where TEST_DATABASE_POOLER asks for that. */
  | { kind: 'server'; url: string; database: string; poolerUrl: string | undefined };

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
  project.provide('template', { kind: 'server', url, database: name, poolerUrl: pooler?.url });
  return async () => {
    await pooler?.close();
    await runOn(url, `drop database ${name} with (force)`);
  };
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
