import { sql, type Selectable } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import type { Services } from '../../kernel/context.ts';
import { merkleRoot } from './merkle.ts';
import { retentionKind, retentionOperation, type RetentionStatement } from './retention.ts';
import { readErasures, type Erasures } from './erasures.ts';
import { compareRows, rowText, splitEntries, type RowText, type RowProblem } from './sealed-rows.ts';
import { sealKind, type SealStatement } from './seals.ts';
import { hashStatement, payloadOf } from './statement.ts';

/* Verification of a company's chain of seals, and of the rows under it. It changes nothing. */

/** The first thing that is wrong. `auditId` is null where it is a seal and no row. */
export type Problem = {
  kind: RowProblem['kind'] | 'seal changed' | 'seal removed' | 'unknown key';
  seal: number;
  auditId: number | null;
};

export type SealName = { seal: number; hash: string };

export type Verdict = {
  problem: Problem | null;
  checkedSeals: number;
  checkedRows: number;
  /** Those of them that are not what was sealed, because a person was erased. */
  erasedRows: number;
  lastSeal: (SealName & { sealedAt: Date }) | null;
  /** Whether seals follow that were not checked. */
  hasMore: boolean;
};

export type Chain = { db: Db; tokens: Services['tokens']; companyId: number };
type Seal = Omit<Selectable<Schema['audit_seals']>, 'company_id'>;
type SealWithRows = Seal & { rows: RowText[] };

const rowsAtOnce = 5_000;

/** Verifies the seals after the given one, up to about `rowsMax` rows. */
export async function verifyChain(
  chain: Chain,
  { after, rowsMax }: { after: number; rowsMax: number },
): Promise<Verdict> {
  let previous = after === 0 ? undefined : await findSeal(chain, after);
  let unproved: Problem | null = null;
  const verdict: Verdict = {
    problem: null,
    checkedSeals: 0,
    checkedRows: 0,
    erasedRows: 0,
    lastSeal: null,
    hasMore: false,
  };
  for (;;) {
    const seals: SealWithRows[] = await listSeals(chain, previous?.seal_id ?? after);
    // Read behind the rows, and only where one differs from its seal.
    let erasures: Promise<Erasures> | undefined;
    const getErasures = () => (erasures ??= readErasures(chain.db, chain.tokens, chain.companyId));
    for (const seal of seals) {
      const checked = await checkSeal(chain, seal, { previous, getErasures });
      // A seal whose key is gone is proved by a later one, which has its hash.
      unproved = checked.isUnproved ? { kind: 'unknown key', seal: seal.seal_id, auditId: null } : null;
      if (checked.problem) return { ...verdict, problem: checked.problem };
      previous = seal;
      verdict.checkedSeals += 1;
      verdict.checkedRows += seal.row_count;
      verdict.erasedRows += checked.erasedRows;
      verdict.lastSeal = { seal: seal.seal_id, hash: hashStatement(seal.statement), sealedAt: seal.sealed_at };
    }
    verdict.hasMore = seals.length > 0 && verdict.checkedRows >= rowsMax;
    if (verdict.hasMore) return verdict;
    if (seals.length === 0) return { ...verdict, problem: unproved };
  }
}

type Checked = { problem?: Problem; erasedRows: number; isUnproved: boolean };

async function checkSeal(
  chain: Chain,
  seal: SealWithRows,
  { previous, getErasures }: { previous: Seal | undefined; getErasures: () => Promise<Erasures> },
): Promise<Checked> {
  const problem = (kind: Problem['kind'], auditId: number | null = null, sealId = seal.seal_id): Checked => ({
    problem: { kind, seal: sealId, auditId },
    erasedRows: 0,
    isUnproved: false,
  });
  const proof = await chain.tokens.statements.verify(sealKind, seal.statement);
  const payload = payloadOf<SealStatement>(seal.statement);
  if (proof === 'forged' || !says(payload, chain.companyId, seal)) return problem('seal changed');
  const stated = payload as SealStatement;
  const follows = previous
    ? seal.seal_id === previous.seal_id + 1 && stated.previous === hashStatement(previous.statement)
    : seal.seal_id === 1;
  if (!follows && !(await isProvedByRetention(chain, stated))) {
    const isNext = previous?.seal_id === seal.seal_id - 1;
    return problem(isNext ? 'seal changed' : 'seal removed', null, seal.seal_id - 1);
  }
  const early = previous ? undefined : await findEarlierRow(chain, seal);
  if (early !== undefined) return problem('row inserted', early);
  const entries = splitEntries(seal.entries);
  if (entries.length !== stated.rows || merkleRoot(entries).toString('base64url') !== stated.root)
    return problem('seal changed');
  let compared = compareRows(entries, seal.rows);
  if (compared.problem?.kind === 'row changed') compared = compareRows(entries, seal.rows, await getErasures());
  if (compared.problem) return problem(compared.problem.kind, compared.problem.auditId);
  return { erasedRows: compared.erasedRows, isUnproved: proof === 'unknown key' };
}

/** Whether the columns of a seal are what it states. */
const says = (stated: Partial<SealStatement> | undefined, companyId: number, seal: Seal): boolean =>
  stated?.company === companyId &&
  stated.seal === seal.seal_id &&
  stated.from === seal.from_xid &&
  stated.to === seal.to_xid &&
  stated.rows === seal.row_count &&
  (stated.erasures?.to ?? null) === seal.erasures_to &&
  stated.at === seal.sealed_at.toISOString();

/** A row of before the first seal that there is: somebody inserted it there. */
async function findEarlierRow({ db, companyId }: Chain, { from_xid: from }: Seal): Promise<number | undefined> {
  const row = await db
    .selectFrom('audit_log')
    .where('company_id', '=', companyId)
    .where('xid', '<', from)
    .select('audit_id')
    .orderBy('xid')
    .limit(1)
    .executeTakeFirst();
  return row?.audit_id;
}

/** Whether the service has deleted everything before a seal, as old, and signed that. */
async function isProvedByRetention(
  { db, tokens, companyId }: Chain,
  { seal, previous }: SealStatement,
): Promise<boolean> {
  const { rows } = await sql<{ proof: string | null }>`
    select changes -> 0 -> 'after' ->> 'proof' as proof from audit_log
    where company_id = ${companyId} and operation = ${retentionOperation} and subject_id = ${seal - 1}
    order by xid desc limit 10`.execute(db);
  for (const { proof } of rows) {
    const read = await tokens.statements.verify(retentionKind, proof ?? '');
    const stated = typeof read === 'object' ? (read.payload as RetentionStatement) : undefined;
    if (stated?.company === companyId && stated.seal === seal - 1 && stated.hash === previous) return true;
  }
  return false;
}

export async function findSeal({ db, companyId }: Omit<Chain, 'tokens'>, sealId: number): Promise<Seal | undefined> {
  return db
    .selectFrom('audit_seals')
    .where('company_id', '=', companyId)
    .where('seal_id', '=', sealId)
    .select(['seal_id', 'from_xid', 'to_xid', 'row_count', 'entries', 'statement', 'sealed_at', 'erasures_to'])
    .executeTakeFirst();
}

/** Seals with all rows in their ranges, read by one statement so that both are of one moment. */
async function listSeals({ db, companyId }: Chain, after: number): Promise<SealWithRows[]> {
  const { rows } = await sql<SealWithRows>`
    with next as materialized (
      select seal_id, from_xid, to_xid, row_count, entries, statement, sealed_at, erasures_to
      from (
        select seal_id, from_xid, to_xid, row_count, entries, statement, sealed_at, erasures_to,
          sum(row_count) over (order by seal_id) as upto
        from (
          select seal_id, from_xid, to_xid, row_count, entries, statement, sealed_at, erasures_to
          from audit_seals where company_id = ${companyId} and seal_id > ${after} order by seal_id limit 200
        ) as following
      ) as summed
      where upto - row_count < ${rowsAtOnce}
    )
    select seal_id, from_xid, to_xid, row_count, entries, statement, sealed_at, erasures_to,
      coalesce((
        select jsonb_agg(jsonb_build_array(a.audit_id, ${rowText}) order by a.audit_id) from audit_log as a
        where a.company_id = ${companyId} and a.xid >= n.from_xid and a.xid < n.to_xid
      ), '[]') as rows
    from next as n order by seal_id`.execute(db);
  return rows;
}

export type Unsealed = { rows: number; oldest: Date | null; impossible: number | null };

/**
 * The rows behind the last seal, which nothing proves yet. `impossible` is the first that belongs to a transaction which has not
 * begun: somebody inserted it, and no seal would ever have reached it.
 */
export async function readUnsealed({ db, companyId }: Omit<Chain, 'tokens'>): Promise<Unsealed> {
  const { rows } = await sql<Unsealed>`
    select count(*) as rows, min(a.at) as oldest, min(a.audit_id) filter (
      where a.xid >= (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint + xid_offset from audit_clock)
    ) as impossible
    from audit_log as a
    where a.company_id = ${companyId} and a.xid >= coalesce((
      select s.to_xid from audit_seals as s where s.company_id = ${companyId} order by s.seal_id desc limit 1
    ), 0)`.execute(db);
  return rows[0]!;
}
