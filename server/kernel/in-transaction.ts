import type { Db } from '../../db/open.ts';
import type { LazyTransaction } from '../../db/transaction.ts';
import { takeRecordedEvents } from './append-event.ts';
import { auditJob, type WriteAudit } from './audit.ts';
import { signalCommit, type Woken } from './commit-signals.ts';
import type { Services } from './context.ts';

/**
 * Runs one transaction for work outside an operation, and signals its commit. It sees the rows of one company; a caller
 * that needs all rows states why.
 */
export async function inTransaction<Answer>(
  services: Pick<Services, 'database'> & Woken & { jobName?: string; writeAudit?: WriteAudit },
  company: number | 'all companies',
  body: (db: Db) => Promise<Answer>,
): Promise<Answer> {
  const { database } = services;
  const transaction = (company === 'all companies' ? database.acrossCompanies : database.forCompany(company)).begin();
  try {
    const answer = await body(transaction.db);
    await commitWithEvents(transaction, services.writeAudit ?? auditJob(services.jobName ?? 'job'));
    signalCommit(services, transaction.db);
    return answer;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/** Commits a transaction, with its rows of the audit log and the events that were recorded in it as its last statements. */
export async function commitWithEvents(transaction: LazyTransaction, audit: WriteAudit): Promise<void> {
  const steps = lastSteps(transaction.db, audit);
  if (steps.length > 0) await transaction.commitBehind(steps);
  else await transaction.commit();
}

/** The events come last, because their streams are locked until the commit. */
export function lastSteps(db: Db, audit: WriteAudit): (() => Promise<unknown>)[] {
  return [...audit(db), ...takeRecordedEvents(db)];
}
