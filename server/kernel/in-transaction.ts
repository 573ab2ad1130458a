import type { Db } from '../../db/open.ts';
import { signalCommit } from './commit-signals.ts';
import type { Services } from './context.ts';

/**
 * Runs one transaction for work outside a request, and signals its commit. It sees the rows of one company; a caller
 * that needs all rows states why.
 */
export async function inTransaction<Answer>(
  services: Pick<Services, 'database' | 'streams' | 'wakeWorker'>,
  company: number | 'all companies',
  body: (db: Db) => Promise<Answer>,
): Promise<Answer> {
  const { database } = services;
  const transaction = (company === 'all companies' ? database.acrossCompanies : database.forCompany(company)).begin();
  try {
    const answer = await body(transaction.db);
    await transaction.commit();
    signalCommit(services, transaction.db);
    return answer;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}
