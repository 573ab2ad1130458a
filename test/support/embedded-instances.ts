import { openAsBlob } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import { openPGlite, wrapEmbedded } from '../../db/open-embedded.ts';
import { type Database } from '../../db/open.ts';
import { readTemplateState, resetEmbedded, type TemplateState } from './embedded-reset.ts';

/*
 * Starting PGlite from the template takes several times as long as emptying its tables. So the test files of one worker share
 * instances, one after another: a database that is closed is reset to the template, and one that cannot be is thrown away.
 */

/** Few files need several databases at once, and each takes some 300 MB. */
const idleMax = 2;

export type EmbeddedInstances = {
  /** A database that equals the template in `dumpFile`, on an instance that nobody else uses until it is closed. */
  take(dumpFile: string, options?: { rowSecurity?: boolean }): Promise<Database>;
  /** Closes the instances that nobody uses. */
  closeIdle(): Promise<void>;
};

export function createEmbeddedInstances(): EmbeddedInstances {
  const idle: PGlite[] = [];
  let template: TemplateState | undefined;

  async function start(dumpFile: string): Promise<PGlite> {
    const pglite = await openPGlite(undefined, await openAsBlob(dumpFile));
    template ??= await readTemplateState(pglite);
    return pglite;
  }

  async function giveBack(pglite: PGlite): Promise<void> {
    const isReset = idle.length < idleMax && (await resetEmbedded(pglite, template!));
    if (isReset) idle.push(pglite);
    else await pglite.close();
  }

  return {
    async take(dumpFile, { rowSecurity = false } = {}) {
      const pglite = idle.pop() ?? (await start(dumpFile));
      let ended: Promise<void> | undefined;
      return wrapEmbedded(pglite, rowSecurity, () => (ended ??= giveBack(pglite)));
    },
    closeIdle: async () => void (await Promise.all(idle.splice(0).map((pglite) => pglite.close()))),
  };
}
