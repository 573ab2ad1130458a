import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';
import { migrate } from '../../db/migrate.ts';
import { openEmbedded } from '../../db/open-embedded.ts';
import { latestMigration, prepareStatement, readDerived, writeBundle } from './bundle.ts';
import { distinct } from './distinct.ts';

/*
 * Writes released.json: the schema of this release and the statements that it sends, which the next release must still
 * serve. Run it as `npm run release:statements` when a release is made, and commit the file.
 */

/** The tests that call every operation, run every job, and read events. */
const suites = ['test/features/', 'test/contract/every-operation', 'test/jobs/', 'test/realtime/'];

const folder = await mkdtemp(join(tmpdir(), 'wms-statements-'));
try {
  process.env['RECORDED_STATEMENTS'] = folder;
  const setupFiles = [fileURLToPath(new URL('recorder.ts', import.meta.url))];
  const vitest = await startVitest('test', suites, { watch: false }, { test: { setupFiles } });
  const failed = vitest.state.getCountOfFailedTests();
  await vitest.close();
  if (failed > 0) throw new Error(`${failed} tests failed: what they would have sent is missing`);

  const files = await readdir(folder);
  const recorded = await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8')) as string[]),
  );
  await write(distinct(recorded.flat()));
} finally {
  await rm(folder, { recursive: true });
}

/** Statements that PostgreSQL does not plan, such as those of a test that fail on purpose, are no part of the release. */
async function write(texts: string[]): Promise<void> {
  const database = await openEmbedded();
  try {
    const { db } = database.owner;
    await migrate(db);
    const statements: string[] = [];
    for (const text of texts)
      await prepareStatement(db, text, statements.length).then(
        () => statements.push(text),
        (error: Error) => process.stdout.write(`left out, because ${error.message}: ${text}\n`),
      );
    await writeBundle({ migration: latestMigration, derived: await readDerived(db), statements });
    process.stdout.write(`${statements.length} statements of ${latestMigration} are in test/upgrade/released.json\n`);
  } finally {
    await database.close();
  }
}
