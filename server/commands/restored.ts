import { leaveGap } from '../../db/restored.ts';
import { print, runOnDatabase } from './support/operator-command.ts';
import { readFlags } from './support/read-flags.ts';

/*
 * For operators, once after a backup was restored and before the service runs on it: numbers that were given out after the
 * backup are never given out again, so subscribers are told to read again and no token of that time opens another session.
 */

const usage = `Leaves a gap in the numbers of events and identifiers: once after each restore of a backup, before the service runs on it.

  npm run restored
  npm run restored -- --help

Takes the settings of the service, which must be stopped.`;

if (readFlags(usage))
  await runOnDatabase(
    process.env,
    async (database) => {
      await leaveGap(database.owner.db);
      print(
        'Numbers of events and identifiers go on behind a gap: subscribers of before read again, and no token of before opens another session.',
      );
      return true;
    },
    { hasTimeLimit: false },
  );
