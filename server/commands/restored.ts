import { leaveGap } from '../../db/restored.ts';
import { print, runOnDatabase } from './support/operator-command.ts';

/*
 * For operators, once after a backup was restored and before the service runs on it: numbers that were given out after the
 * backup are never given out again, so subscribers are told to read again and no token of that time opens another session.
 */
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
