import type { z } from 'zod';
import type { AuditVerdict } from './schemas.ts';
import { hashStatement } from './statement.ts';
import { findSeal, readUnsealed, verifyChain, type Chain, type Problem, type SealName } from './verify.ts';

type Asked = { after?: number; known?: SealName; rowsMax?: number };

/** The verdict on a company's log: its seals, a seal that is known from before, and the rows that have no seal yet. */
export async function verifyCompany(
  chain: Chain,
  { after = 0, known, rowsMax = Infinity }: Asked,
): Promise<z.input<typeof AuditVerdict>> {
  const verdict = await verifyChain(chain, { after, rowsMax });
  const unsealed = await readUnsealed(chain);
  const { checkedSeals, checkedRows, erasedRows, lastSeal, hasMore } = verdict;
  const impossible: Problem | null =
    unsealed.impossible === null
      ? null
      : { kind: 'row inserted', seal: (lastSeal?.seal ?? after) + 1, auditId: unsealed.impossible };
  const problem = verdict.problem ?? (await findLostSeal(chain, known)) ?? (hasMore ? null : impossible);
  return {
    isIntact: problem === null,
    problem: problem && { kind: problem.kind, seal: problem.seal, rowId: problem.auditId },
    checkedSeals,
    checkedRows,
    erasedRows,
    unsealedRows: unsealed.rows,
    oldestUnsealedAt: unsealed.oldest,
    lastSeal,
    next: hasMore && problem === null ? lastSeal!.seal : null,
  };
}

/** A seal that was there before and is there no more, or has another statement. One that was deleted as old is not lost. */
async function findLostSeal(chain: Chain, known: SealName | undefined): Promise<Problem | null> {
  if (known === undefined) return null;
  const seal = await findSeal(chain, known.seal);
  if (seal && hashStatement(seal.statement) === known.hash) return null;
  const first = await chain.db
    .selectFrom('audit_seals')
    .where('company_id', '=', chain.companyId)
    .select('seal_id')
    .orderBy('seal_id')
    .limit(1)
    .executeTakeFirst();
  // Verification of the chain asks for the proof of what was deleted as old.
  if (!seal && first && first.seal_id > known.seal) return null;
  return { kind: seal ? 'seal changed' : 'seal removed', seal: known.seal, auditId: null };
}
