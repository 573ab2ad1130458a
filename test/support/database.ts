import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { inject } from 'vitest';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer, type Database, type ServerOptions } from '../../db/open.ts';
import { createEmbeddedInstances } from './embedded-instances.ts';
import { runOn, withDatabase } from './template.ts';

const embedded = createEmbeddedInstances();

/**
 * A database of one's own with row security, cloned from the migrated template; `close` leaves nothing behind, and fails
 * where a statement was sent as a read that is none.
 */
export async function openClone(options: Omit<ServerOptions, 'rowSecurity'> = {}): Promise<Database> {
  const template = inject('template');
  const rowSecurity = true;
  if (template.kind === 'embedded') return embedded.take(template.dumpFile, { rowSecurity });

  const name = `wms_test_${randomBytes(6).toString('hex')}`;
  await runOn(template.url, `create database ${name} ${template.copy}`);
  const writes: string[] = [];
  const onWrite = (text: string) => void writes.push(text);
  const directUrl = withDatabase(template.url, name);
  const { poolerUrl } = template;
  const pooled = poolerUrl === undefined ? {} : { isPooled: true, directUrl };
  const url = poolerUrl === undefined ? directUrl : withDatabase(poolerUrl, name);
  const database = openServer(url, { onWrite, ...options, ...pooled, rowSecurity });
  return {
    ...database,
    close: async () => {
      await database.close();
      await runOn(template.url, `drop database ${name} with (force)`);
      if (writes.length > 0) throw new Error(`sent as reads, but they write: ${[...new Set(writes)].join('; ')}`);
    },
  };
}

/** Handles on one new and empty database, on a server without its pooler; `remove` closes them. */
export async function openEmpty(
  handles = 1,
  options: ServerOptions = {},
): Promise<{ databases: Database[]; remove(): Promise<void> }> {
  const template = inject('template');
  if (template.kind === 'embedded') {
    const database = await openEmbedded({ dump: await openAsBlob(template.emptyDumpFile) });
    return { databases: [database], remove: () => database.close() };
  }
  const name = `wms_test_${randomBytes(6).toString('hex')}`;
  await runOn(template.url, `create database ${name}`);
  const url = withDatabase(template.url, name);
  const databases = Array.from({ length: handles }, () => openServer(url, options));
  const remove = async () => {
    await Promise.all(databases.map((database) => database.close()));
    await runOn(template.url, `drop database ${name} with (force)`);
  };
  return { databases, remove };
}
