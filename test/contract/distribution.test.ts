import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import type { Db } from '../../db/open.ts';
import { companyTables } from '../../db/schema.ts';
import { openClone } from '../support/database.ts';
import { readBundle } from '../upgrade/bundle.ts';

/*
 * Whether the database could be distributed by company, as by Citus: all rows of a company on one server, and its statements
 * sent there. What does not hold is listed with what a move would need, so that each addition is a decision.
 */

const database = await openClone();
const { db } = database.owner;
afterAll(() => database.close());

const ofAnAccount = 'is found by an address or an account, before a company is known: it stays on one server';
const oneRow = 'is the service’s own, in a few rows: it stays on one server';

/** Tables of no company. */
const globalTables: Record<string, string> = {
  account_devices: ofAnAccount,
  accounts: `${ofAnAccount}; employees refer to it, so it would be copied to all servers, or lose that reference`,
  apple_claims: ofAnAccount,
  audit_clock: 'is the same for all, one row that hardly changes: it would be copied to all servers',
  derived_definitions: oneRow,
  idempotent_answers: 'is found by a hash of the caller: it needs the company, or a transaction ends on two servers',
  identities: ofAnAccount,
  jobs: 'is written in the transaction of its cause: it needs the company, or a transaction ends on two servers',
  morning_rounds: oneRow,
  oauth_clients: 'is found by the identifier of a program, before a company is known: it stays on one server',
  one_time_codes: ofAnAccount,
  one_time_tokens: ofAnAccount,
  plans: 'is the same for all and hardly changes: it would be copied to all servers',
  sessions:
    'is of an account, and may have no company: it stays on one server, without references to employees and keys',
  sweep_rounds: oneRow,
  used_identity_tokens: ofAnAccount,
};

test('every table has the company, or is listed', async () => {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and relname not like 'kysely%'
    order by relname collate "C"`.execute(db);
  expect(rows.map(({ name }) => name).filter((name) => !companyTables.has(name))).toEqual(Object.keys(globalTables));
});

test('every unique key of a table of a company has the company', async () => {
  const { rows } = await sql<{ table: string; definition: string }>`
    select c.relname as table, pg_get_indexdef(i.indexrelid) as definition
    from pg_index as i join pg_class as c on c.oid = i.indrelid and c.relnamespace = 'public'::regnamespace
    where i.indisunique and not exists (
      select from pg_attribute as a where a.attrelid = c.oid and a.attname = 'company_id' and a.attnum = any(i.indkey)
    )`.execute(db);
  expect(rows.filter(({ table }) => companyTables.has(table)).map(({ definition }) => definition)).toEqual([]);
});

test('every reference of a table of a company is to the same company, or is listed', async () => {
  const { rows } = await sql<{ from: string; to: string; definition: string }>`
    select f.relname as from, t.relname as to, pg_get_constraintdef(k.oid) as definition
    from pg_constraint as k join pg_class as f on f.oid = k.conrelid join pg_class as t on t.oid = k.confrelid
    where k.contype = 'f' order by f.relname collate "C", t.relname collate "C"`.execute(db);
  const leaving = rows.filter(({ from, to, definition }) => {
    const touched = [from, to].filter((table) => companyTables.has(table)).length;
    return touched === 1 || (touched === 2 && !/KEY \(company_id\b.*\(company_id\b/.test(definition));
  });
  expect(leaving.map(({ from, to }) => `${from} to ${to}`)).toEqual([
    // Possible if accounts are copied to all servers.
    'employees to accounts',
    // Sessions would be ended by the statements that remove people and keys.
    'sessions to api_keys',
    'sessions to employees',
    // Possible, because plans are copied.
    'subscriptions to plans',
  ]);
});

test('only listed tables of a company have triggers', async () => {
  const { rows } = await sql<{ name: string }>`
    select distinct c.relname as name from pg_trigger as t join pg_class as c on c.oid = t.tgrelid
    where not t.tgisinternal order by 1`.execute(db);
  // Citus has no triggers on distributed tables: derived data would be written by each server's own, or by the service.
  expect(rows.map(({ name }) => name)).toEqual([
    // These only refuse changes: rights would do that.
    'audit_erasures',
    'audit_log',
    'audit_seals',
    'comments',
    'notifications',
    'project_amounts',
    'projects',
    'task_logs',
    'tasks',
  ]);
});

/** Statements that read tables of companies and do not name one company, by a part of their text. */
const ofSeveralCompanies: [part: RegExp, why: string][] = [
  [/in \(\s*select \* from unnest\(/, 'loads rows of several callers by lists of keys: one statement for each company'],
  [/^select t\.company_id, t\.task_id/, 'checks the access of subscribers of several companies: the same'],
  [/^select e\.company_id, e\.stream, e\.sequence/, 'reads new events of several streams: the same'],
  [/^update api_keys set last_used_at/, 'notes the use of several keys: the same'],
  [/from api_keys as k/, 'finds a key by its hash: all servers are asked, unless keys name their company'],
  [
    /from "?sessions"? (as )?"?s"?/,
    'joins a session with its employee: two statements, the second in the company of the first',
  ],
  [
    /from "employees" as "e" inner join "companies".*"e"\."account_id" = \$/,
    'lists the companies of an account: all servers are asked, or a table of memberships beside the accounts',
  ],
  [/from "?invitations"? as "?i"?/, 'finds invitations of an address: the same'],
  [
    /^select from companies where company_id > 0 limit 1$/,
    'asks at the start whether there is any company: all servers are asked',
  ],
  [
    /^select coalesce\(looked_at, greatest\(/,
    'asks at the first sweep for the last sign of life: all servers are asked',
  ],
  [
    /^with batch as materialized \(\s*select "(company_mornings|events)"/,
    'deletes old rows: each server deletes its own',
  ],
  [/^with zones as materialized/, 'plans the mornings of all companies: each server plans its own'],
];

type Node = { 'Node Type': string; 'Relation Name'?: string; Alias?: string; Plans?: Node[]; [part: string]: unknown };
const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

async function planOf(db: Db, text: string): Promise<Node[]> {
  await sql.raw(`prepare planned as ${text}`).execute(db);
  const { rows: prepared } = await sql<{ count: number }>`
    select cardinality(parameter_types) as count from pg_prepared_statements where name = 'planned'`.execute(db);
  const values = Array.from({ length: prepared[0]!.count }, () => 'null').join();
  const { rows: plans } = await sql
    .raw<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `explain (verbose, costs off, format json) execute planned${values === '' ? '' : `(${values})`}`,
    )
    .execute(db);
  await sql`deallocate planned`.execute(db);
  return nodesOf(plans[0]!['QUERY PLAN'][0].Plan);
}

/** Whether each row that a plan reads in a table of a company is found by that company, which the statement is given. */
function namesItsCompany(plan: Node[]): boolean {
  const read = plan.filter(
    (node) => node['Node Type'].endsWith(' Scan') && companyTables.has(node['Relation Name'] ?? ''),
  );
  const conditions = plan
    .flatMap((node) => Object.entries(node).flatMap(([part, text]) => (/Cond|Filter/.test(part) ? [String(text)] : [])))
    .join(' ');
  const isFoundByCompany = ({ Alias }: Node) => new RegExp(`\\b${Alias}\\.company_id\\b`).test(conditions);
  return (
    read.length === 0 ||
    (read.every(isFoundByCompany) && /\bcompany_id = \(*(\$|ANY|SubPlan|InitPlan)/.test(conditions))
  );
}

test('every statement of the last release names its company, or is listed', async () => {
  const { statements } = await readBundle();
  const unnamed: string[] = [];
  // One transaction is one session, also behind a pooler.
  const { db: session, rollback } = database.owner.begin();
  await sql`set local plan_cache_mode = force_generic_plan`.execute(session);
  for (const text of statements) if (!namesItsCompany(await planOf(session, text))) unnamed.push(text);
  await rollback();
  const listed = (text: string) => ofSeveralCompanies.some(([part]) => part.test(text));
  expect(unnamed.filter((text) => !listed(text))).toEqual([]);
  expect(ofSeveralCompanies.filter(([part]) => !unnamed.some((text) => part.test(text)))).toEqual([]);
});
