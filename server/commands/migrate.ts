import { migrate } from '../../db/migrate.ts';
import { secureTables } from '../../db/row-security.ts';
import { print, runOnDatabase } from './support/operator-command.ts';

/*
 * For operators: migrates the database, as every start does, without serving. For a job that runs before the nodes of a new version.
 * Exits with 0 where the database is up to date afterwards.
 */

await runOnDatabase(
  process.env,
  async (database, { DATABASE_ROW_SECURITY: hasRowSecurity }) => {
    const steps = await migrate(database.owner.db);
    if (hasRowSecurity) await secureTables(database.owner.db);
    print(
      steps.length === 0
        ? 'The database was up to date.'
        : `The database took ${steps.length} steps: ${steps.join(', ')}.`,
    );
    return true;
  },
  { mayBeOutdated: true },
);
