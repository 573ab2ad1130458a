import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { inject } from 'vitest';
import { openEmbedded, openServer, type Database } from '../../db/open.ts';
import { tenancyGuard } from './tenancy-guard.ts';
import { runOn, withDatabase } from './template.ts';

/** A database of one's own, cloned from the migrated template; `close` leaves nothing behind. */
export async function openClone(options: { connectionsMax?: number } = {}): Promise<Database> {
  const template = inject('template');
  const plugins = [tenancyGuard];
  if (template.kind === 'embedded') return openEmbedded({ dump: await openAsBlob(template.dumpFile), plugins });

  const name = `wms_test_${randomBytes(6).toString('hex')}`;
  await runOn(template.url, `create database ${name} template ${template.database}`);
  const database = openServer(withDatabase(template.url, name), { ...options, plugins });
  return {
    ...database,
    close: async () => {
      await database.close();
      await runOn(template.url, `drop database ${name} with (force)`);
    },
  };
}
