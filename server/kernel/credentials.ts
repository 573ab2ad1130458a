import { sql, type RawBuilder } from 'kysely';
import { createLoader } from '../../db/pipeline/loader.ts';
import { compiled } from '../../db/pipeline/compiled.ts';
import { list } from '../../db/pipeline/list.ts';
import type { Db } from '../../db/open.ts';
import { nameOf, type Credential } from '../platform/credential.ts';
import type { Services } from './context.ts';
import type { Scope } from '../platform/scopes.ts';

/** A credential and its holder; the employee's fields are null if there is none. */
export type CredentialRow = {
  id: number;
  companyId: number | null;
  employeeId: number | null;
  isAdmin: boolean | null;
  isTeamLeader: boolean | null;
  /** Its company is closed. */
  isClosed: boolean;
  /** Neither ended, revoked nor expired, and its holder is neither deactivated nor deleted. */
  isLive: boolean;
  /** Whether its last use is old enough to be recorded again. */
  isUseDue: boolean;
};

/** `accountId` is null if an API key opened the session. */
export type SessionRow = CredentialRow & { accountId: number | null };

type ApiKeyRow = CredentialRow & { keyHash: string; scopes: Scope[] };

/** Reads sessions and keys from the database, in one statement for all requests of one tick. */
export type Credentials = {
  findSession(sessionId: number): Promise<SessionRow | undefined>;
  findApiKey(keyHash: string): Promise<ApiKeyRow | undefined>;
  /** Records the use of a credential, after the answer and not every time. */
  noteUse(credential: Credential, row: CredentialRow): void;
};

type Needed = Pick<Services, 'database' | 'clock' | 'background'>;

export function createCredentials({ database, clock, background }: Needed): Credentials {
  // The credential tells the caller's company, so the company is not known yet.
  const all = database.acrossCompanies;
  /** Uses that are being recorded. */
  const noted = new Set<string>();
  let unwritten: Used[] = [];

  async function writeNotes(): Promise<void> {
    const used = unwritten;
    unwritten = [];
    try {
      await markUsed(all.db, used, clock.now());
    } finally {
      for (const { credential } of used) noted.delete(nameOf(credential));
    }
  }

  return {
    findSession: createLoader(itself, async (sessionIds: number[]) => {
      const rows = await readSessions(all.reads, { sessionIds, now: clock.now() });
      return new Map(rows.map((row) => [row.id, row]));
    }),
    findApiKey: createLoader(itself, async (keyHashes: string[]) => {
      const rows = await readApiKeys(all.reads, { keyHashes, now: clock.now() });
      return new Map(rows.map((row) => [row.keyHash, row]));
    }),
    noteUse(credential, { companyId, isUseDue }) {
      if (!isUseDue) return;
      const name = nameOf(credential);
      if (noted.has(name)) return;
      noted.add(name);
      unwritten.push({ credential, companyId });
      // All uses of one tick are written together.
      if (unwritten.length === 1) background.run('credentials-used', writeNotes);
    },
  };
}

const itself = <Key>(key: Key): Key => key;

/** Whether the company of a credential is not being removed. */
const isThere = (now: RawBuilder<Date>) => sql<boolean>`coalesce(c.closes_at > ${now}::timestamptz, true)`;

/** Recording each use would turn every read into a write. */
const isUseDue = (lastUsedAt: RawBuilder<unknown>, now: RawBuilder<Date>) =>
  sql<boolean>`coalesce(${lastUsedAt} < ${now}::timestamptz - interval '1 minute', true)`;

// Read with every request, so it selects only what most requests need: no names, and flags instead of moments, which
// are the slowest to parse.
const readSessions = compiled<{ sessionIds: number[]; now: Date }, SessionRow>((db, placeholder) =>
  sql<SessionRow>`
    select s.session_id as id, s.account_id as "accountId", s.company_id as "companyId", s.employee_id as "employeeId",
      e.is_admin as "isAdmin", e.is_team_leader as "isTeamLeader", c.closes_at is not null as "isClosed",
      s.ended_at is null and s.expires_at > ${placeholder('now')}::timestamptz
        and (s.employee_id is null or (e.is_active and not e.is_deleted)) and ${isThere(placeholder('now'))} as "isLive",
      ${isUseDue(sql.ref('s.last_used_at'), placeholder('now'))} as "isUseDue"
    from sessions as s
    left join employees as e on e.company_id = s.company_id and e.employee_id = s.employee_id
    left join companies as c on c.company_id = s.company_id
    where s.session_id = any(${list(placeholder('sessionIds'), 'bigint')})`.compile(db),
);

const readApiKeys = compiled<{ keyHashes: string[]; now: Date }, ApiKeyRow>((db, placeholder) =>
  sql<ApiKeyRow>`
    select k.api_key_id as id, k.key_hash as "keyHash", k.scopes,
      k.company_id as "companyId", k.employee_id as "employeeId",
      e.is_admin as "isAdmin", e.is_team_leader as "isTeamLeader", c.closes_at is not null as "isClosed",
      k.revoked_at is null and (k.expires_at is null or k.expires_at > ${placeholder('now')}::timestamptz)
        and (k.client_id is null or k.access_expires_at > ${placeholder('now')}::timestamptz)
        and e.is_active and not e.is_deleted and ${isThere(placeholder('now'))} as "isLive",
      ${isUseDue(sql.ref('k.last_used_at'), placeholder('now'))} as "isUseDue"
    from api_keys as k
    join employees as e on e.company_id = k.company_id and e.employee_id = k.employee_id
    join companies as c on c.company_id = k.company_id
    where k.key_hash = any(${list(placeholder('keyHashes'), 'text')})`.compile(db),
);

type Used = { credential: Credential; companyId: number | null };

/** Skips rows that another transaction has locked. */
async function markUsed(db: Db, used: Used[], now: Date): Promise<void> {
  const sessionIds = used.flatMap(({ credential: one }) => (one.kind === 'apiKey' ? [] : one.sessionId));
  const keys = used.filter(({ credential }) => credential.kind === 'apiKey');
  if (sessionIds.length > 0)
    await sql`
      update sessions set last_used_at = ${now} where session_id in (
        select session_id from sessions where session_id = any(${list(sessionIds, 'bigint')})
        for no key update skip locked
      )`.execute(db);
  const companyIds = keys.map(({ companyId }) => companyId!);
  const apiKeyIds = keys.flatMap(({ credential: one }) => (one.kind === 'apiKey' ? one.apiKeyId : []));
  if (apiKeyIds.length > 0)
    await sql`
      update api_keys set last_used_at = ${now} where (company_id, api_key_id) in (
        select company_id, api_key_id from api_keys
        where (company_id, api_key_id) in (
          select * from unnest(${list(companyIds, 'bigint')}, ${list(apiKeyIds, 'bigint')})
        )
        for no key update skip locked
      )`.execute(db);
}

/** Returns which of the given credentials are still valid, in one statement. */
export async function listLiveCredentials(
  db: Db,
  credentials: Credential[],
  now: Date,
): Promise<(credential: Credential) => boolean> {
  const sessionIds = credentials.flatMap((one) => (one.kind === 'apiKey' ? [] : one.sessionId));
  const apiKeyIds = credentials.flatMap((one) => (one.kind === 'apiKey' ? one.apiKeyId : []));
  const { rows } = await sql<{ kind: 'session' | 'key'; id: number }>`
    select 'session' as kind, s.session_id as id from sessions s
    left join employees e on e.company_id = s.company_id and e.employee_id = s.employee_id
    left join companies as c on c.company_id = s.company_id
    where s.session_id = any(${sessionIds}::bigint[]) and s.ended_at is null and s.expires_at > ${now}
      and (s.employee_id is null or (e.is_active and not e.is_deleted)) and coalesce(c.closes_at > ${now}, true)
    union all
    select 'key', k.api_key_id from api_keys k
    join employees e on e.company_id = k.company_id and e.employee_id = k.employee_id
    join companies as c on c.company_id = k.company_id
    where k.api_key_id = any(${apiKeyIds}::bigint[]) and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > ${now}) and e.is_active and not e.is_deleted
      and coalesce(c.closes_at > ${now}, true)`.execute(db);
  const live = new Set(rows.map(({ kind, id }) => `${kind} ${id}`));
  return (one) => live.has(nameOf(one));
}
