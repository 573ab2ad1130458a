import { parseArgs } from 'node:util';
import { buildIndexesFirst, updateDatabase } from '../startup/open-database.ts';
import { print, runOnDatabase } from './support/operator-command.ts';

/*
 * For operators: migrates the database, as every start does, without serving. For a job that runs before the nodes of a new version.
 * Exits with 0 where the database is up to date afterwards. With --indexes-first it migrates nothing, and builds what would make the
 * migration long: the indexes of large tables, while nodes write.
 */

const { values: options } = parseArgs({ options: { 'indexes-first': { type: 'boolean', default: false } } });

await runOnDatabase(
  process.env,
  async (database, config) => {
    if (options['indexes-first']) {
      await buildIndexesFirst(config);
      print('The indexes are built.');
      return true;
    }
    const steps = await updateDatabase(config, database);
    print(
      steps.length === 0
        ? 'The database was up to date.'
        : `The database took ${steps.length} steps: ${steps.join(', ')}.`,
    );
    return true;
  },
  { mayBeOutdated: true },
);
