import type { Db } from '../../db/open.ts';
import type { Services } from './context.ts';
import { streamsPublishedIn } from './publish.ts';

/**
 * One transaction for work beside a request, on the rows of one company; whoever listens to the facts in it is woken when
 * it has committed.
 */
export async function transact<Answer>(
  { database, streams }: Pick<Services, 'database' | 'streams'>,
  companyId: number,
  body: (db: Db) => Promise<Answer>,
): Promise<Answer> {
  const transaction = database.forCompany(companyId).begin();
  try {
    const answer = await body(transaction.db);
    await transaction.commit();
    streams.wake(streamsPublishedIn(transaction.db));
    return answer;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}
