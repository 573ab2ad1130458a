import type { Db } from '../../db/open.ts';
import type { Services } from './context.ts';
import { streamsPublishedIn } from './publish.ts';

/** One transaction for work beside a request; whoever listens to the facts in it is woken when it has committed. */
export async function transact<Answer>(
  { database, streams }: Pick<Services, 'database' | 'streams'>,
  body: (db: Db) => Promise<Answer>,
): Promise<Answer> {
  let used: Db | undefined;
  const answer = await database.db.transaction().execute((db) => body((used = db)));
  if (used) streams.wake(streamsPublishedIn(used));
  return answer;
}
