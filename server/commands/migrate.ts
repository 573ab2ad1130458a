import { buildIndexesFirst, updateDatabase } from '../startup/open-database.ts';
import { print, runOnDatabase } from './support/operator-command.ts';
import { readFlags } from './support/read-flags.ts';

/*
 * For operators: migrates the database, as every start does, without serving. For a job that runs before the nodes of a new version.
 * Exits with 0 where the database is up to date afterwards, with 2 on bad usage. With --indexes-first it migrates nothing, and builds what would make the
 * migration long: the indexes of large tables, while nodes write.
 */

const usage = `Migrates the database to this version, as every start does, without serving.

  npm run migrate                       migrates it
  npm run migrate -- --indexes-first    migrates nothing, and builds the indexes of large tables while nodes write
  npm run migrate -- --help

Takes the settings of the service, which may be running; with the embedded database it must be stopped.`;

const flags = readFlags(usage, ['indexes-first']);
if (flags)
  await runOnDatabase(
    process.env,
    async (database, config) => {
      if (flags['indexes-first']) {
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
