import { sql, type RawBuilder } from 'kysely';
import { setLimits, retryLocks } from './lock-retries.ts';
import { acrossRole, companyRole } from './scope.ts';
import type { Db } from './transaction.ts';

/** Row-level security is configured, but the database's user may not set it up. */
export class RowSecurityDenied extends Error {
  override name = 'RowSecurityDenied';
}

/** The advisory lock that serializes processes which secure a database at once. */
const lockKey = 7_210_018;
const insufficientPrivilege = '42501';

/** Tables whose rows nobody changes: see 0026-audit-log. */
const addedOnlyTables = ['audit_log', 'audit_seals', 'audit_erasures'];
const addedOnly = sql`(${sql.join(addedOnlyTables)})`;

type Table = { name: string; isSequence: boolean; lacksGrants: boolean; lacksPolicies: boolean };

/**
 * Creates policies on every table that has a `company_id` and grants the two roles their rights. Everything is derived
 * from the tables, so migrations need not mention it. Runs after the migrations, as the owner of the tables, and
 * changes nothing unless something is missing.
 */
export async function secureTables(db: Db): Promise<void> {
  try {
    await ensureRoles(db);
    if ((await listUnsecured(db)).length === 0) return;
    await retryLocks(() => db.transaction().execute(secureAll));
  } catch (error) {
    if ((error as { code?: unknown }).code !== insufficientPrivilege) throw error;
    const { rows } = await sql<{ user: string }>`select quote_ident(current_user) as user`.execute(db);
    const user = rows[0]!.user;
    throw new RowSecurityDenied(
      `DATABASE_ROW_SECURITY needs the roles ${companyRole} and ${acrossRole}, and ${user} to own the tables. ` +
        `Have an administrator of the server run: create role ${companyRole} nologin; create role ${acrossRole} nologin; ` +
        `grant ${companyRole}, ${acrossRole} to ${user};`,
      { cause: error },
    );
  }
}

async function secureAll(transaction: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockKey})`.execute(transaction);
  await setLimits(transaction);
  await sql`grant usage on schema public to ${sql.ref(companyRole)}, ${sql.ref(acrossRole)}`.execute(transaction);
  for (const table of await listUnsecured(transaction)) await secure(transaction, table);
}

/** Roles belong to the whole server: a service on another database may have created them, or be creating them now. */
async function ensureRoles(db: Db): Promise<void> {
  const { rows } = await sql<{ role: string; exists: boolean }>`
    select w.role, r.oid is not null as exists
    from (values (${companyRole}), (${acrossRole})) as w (role) left join pg_roles as r on r.rolname = w.role
    where r.oid is null or not ${mayBecome(sql.ref('r.oid'))}`.execute(db);
  for (const { role, exists } of rows) {
    if (!exists)
      await sql`
        do $$ begin create role ${sql.ref(role)} nologin;
        exception when duplicate_object or unique_violation then null; end $$`.execute(db);
    await sql`
      do $$ begin
        if not ${mayBecome(sql.lit(role))} then grant ${sql.ref(role)} to current_user; end if;
      end $$`.execute(db);
  }
}

/** Since PostgreSQL 16 the creator of a role can grant it but not necessarily set it. */
const mayBecome = (role: RawBuilder<unknown>) => sql`pg_has_role(
  current_user, ${role}, case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end
)`;

async function listUnsecured(db: Db): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select * from (
      select c.relname as name, c.relkind = 'S' as "isSequence",
        not all_rights as "lacksGrants",
        exists (select from pg_attribute as a where a.attrelid = c.oid and a.attname = 'company_id' and not a.attisdropped)
          and (not c.relrowsecurity or (select count(*) from pg_policy as p where p.polrelid = c.oid) < 2)
          as "lacksPolicies"
      from pg_class as c
      cross join lateral (
        select bool_and(
          case c.relkind when 'S' then has_sequence_privilege(role, c.oid, 'usage')
          else has_table_privilege(role, c.oid, 'select')
            and has_table_privilege(role, c.oid, case when c.relname in ${addedOnly} then 'insert' else 'delete' end) end
        ) as all_rights
        from (values (${companyRole}), (${acrossRole})) as r (role)
      ) as rights
      where c.relkind in ('r', 'p', 'S') and c.relnamespace = 'public'::regnamespace and c.relname not like 'kysely%'
    ) as tables
    where "lacksGrants" or "lacksPolicies" order by name`.execute(db);
  return rows;
}

async function secure(db: Db, { name, isSequence, lacksGrants, lacksPolicies }: Table): Promise<void> {
  const table = sql.ref(name);
  const company = sql.ref(companyRole);
  const across = sql.ref(acrossRole);
  const rights = isSequence
    ? sql`usage on sequence`
    : addedOnlyTables.includes(name)
      ? sql`select, insert on`
      : sql`select, insert, update, delete on`;
  if (lacksGrants) await sql`grant ${rights} ${table} to ${company}, ${across}`.execute(db);
  if (!lacksPolicies) return;
  await sql`drop policy if exists one_company on ${table}`.execute(db);
  await sql`drop policy if exists all_companies on ${table}`.execute(db);
  // Not a subselect: the planner treats it as a constant and compares it with the query's own `company_id` once per
  // statement.
  await sql`
    create policy one_company on ${table} to ${company}
    using (company_id = nullif(current_setting('app.company_id', true), '')::bigint)`.execute(db);
  await sql`create policy all_companies on ${table} to ${across} using (true)`.execute(db);
  await sql`alter table ${table} enable row level security`.execute(db);
}
