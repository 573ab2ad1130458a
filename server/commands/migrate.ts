import { updateDatabase } from '../startup/open-database.ts';
import { print, runOnDatabase } from './support/operator-command.ts';

/*
 * For operators: migrates the database, as every start does, without serving. For a job that runs before the nodes of a new version.
 * Exits with 0 where the database is up to date afterwards.
 */

await runOnDatabase(
  process.env,
  async (database, config) => {
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
