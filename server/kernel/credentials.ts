import { sql } from 'kysely';
import { batched } from '../../db/batched.ts';
import { compiled } from '../../db/compiled.ts';
import { list } from '../../db/list.ts';
import type { Db } from '../../db/open.ts';
import { nameOf } from './connections.ts';
import type { Credential, Scope, Services } from './context.ts';

/** Marking a session or key as used more often than this would make a write of every read. */
const lastUsedGrainMs = 60_000;

/** A credential and who is behind it; the employee's part is null where there is none. */
export type CredentialRow = {
  id: number;
  email: string;
  employeeId: number | null;
  companyId: number | null;
  name: string | null;
  isAdmin: boolean | null;
  isTeamLeader: boolean | null;
  timezone: string | null;
  /** Neither deactivated nor deleted, or no employee at all. */
  isActive: boolean;
  accountId: number;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
};

export type SessionRow = CredentialRow & { endedAt: Date | null };
export type ApiKeyRow = CredentialRow & { keyHash: string; revokedAt: Date | null; scopes: Scope[] };

/** What the database says about sessions and keys at this moment: all requests of one turn ask it together. */
export type Credentials = {
  findSession(sessionId: number): Promise<SessionRow | undefined>;
  findApiKey(keyHash: string): Promise<ApiKeyRow | undefined>;
  /** Notes, after the answer and now and then, that it was used. */
  noteUse(credential: Credential, row: CredentialRow, now: Date): void;
};

export function createCredentials({ database, background }: Pick<Services, 'database' | 'background'>): Credentials {
  const beingMarked = new Set<string>();

  return {
    findSession: batched(itself, async (sessionIds: number[]) => {
      const rows = await readSessions(database.reads, { sessionIds });
      return new Map(rows.map((row) => [row.id, row]));
    }),
    findApiKey: batched(itself, async (keyHashes: string[]) => {
      const rows = await readApiKeys(database.reads, { keyHashes });
      return new Map(rows.map((row) => [row.keyHash, row]));
    }),
    noteUse(credential, row, now) {
      const name = nameOf(credential);
      const isFresh = row.lastUsedAt !== null && now.getTime() - row.lastUsedAt.getTime() <= lastUsedGrainMs;
      if (isFresh || beingMarked.has(name)) return;
      beingMarked.add(name);
      background.run('credential-used', () =>
        markUsed(database.db, credential, row, now).finally(() => beingMarked.delete(name)),
      );
    },
  };
}

const itself = <Key>(key: Key): Key => key;

const readSessions = compiled<{ sessionIds: number[] }, SessionRow>((db, blank) =>
  sql<SessionRow>`
    select s.session_id as id, s.ended_at as "endedAt", s.expires_at as "expiresAt", s.last_used_at as "lastUsedAt",
      s.account_id as "accountId", s.employee_id as "employeeId", s.company_id as "companyId", a.email, e.name,
      e.is_admin as "isAdmin", e.is_team_leader as "isTeamLeader", c.timezone,
      s.employee_id is null or (e.is_active and not e.is_deleted) as "isActive"
    from sessions as s
    join accounts as a on a.account_id = s.account_id
    left join employees as e on e.company_id = s.company_id and e.employee_id = s.employee_id
    left join companies as c on c.company_id = e.company_id
    where s.session_id = any(${list(blank('sessionIds'), 'bigint')})`.compile(db),
);

const readApiKeys = compiled<{ keyHashes: string[] }, ApiKeyRow>((db, blank) =>
  sql<ApiKeyRow>`
    select k.api_key_id as id, k.key_hash as "keyHash", k.revoked_at as "revokedAt", k.expires_at as "expiresAt",
      k.last_used_at as "lastUsedAt", k.scopes, e.account_id as "accountId", k.employee_id as "employeeId",
      k.company_id as "companyId", e.email, e.name, e.is_admin as "isAdmin", e.is_team_leader as "isTeamLeader",
      c.timezone, e.is_active and not e.is_deleted as "isActive"
    from api_keys as k
    join employees as e on e.company_id = k.company_id and e.employee_id = k.employee_id
    join companies as c on c.company_id = k.company_id
    where k.key_hash = any(${list(blank('keyHashes'), 'text')})`.compile(db),
);

async function markUsed(db: Db, credential: Credential, { companyId }: CredentialRow, now: Date): Promise<void> {
  const used = { last_used_at: now };
  if (credential.kind === 'session')
    await db.updateTable('sessions').set(used).where('session_id', '=', credential.sessionId).execute();
  else
    await db
      .updateTable('api_keys')
      .set(used)
      .where('company_id', '=', companyId)
      .where('api_key_id', '=', credential.apiKeyId)
      .execute();
}

/** Tells which of the given credentials still hold, in one statement for all of them. */
export async function listLiveCredentials(
  db: Db,
  credentials: Credential[],
  now: Date,
): Promise<(credential: Credential) => boolean> {
  const sessionIds = credentials.flatMap((one) => (one.kind === 'session' ? one.sessionId : []));
  const apiKeyIds = credentials.flatMap((one) => (one.kind === 'apiKey' ? one.apiKeyId : []));
  const { rows } = await sql<{ kind: Credential['kind']; id: number }>`
    select 'session' as kind, s.session_id as id from sessions s
    left join employees e on e.company_id = s.company_id and e.employee_id = s.employee_id
    where s.session_id = any(${sessionIds}::bigint[]) and s.ended_at is null and s.expires_at > ${now}
      and (s.employee_id is null or (e.is_active and not e.is_deleted))
    union all
    select 'apiKey', k.api_key_id from api_keys k
    join employees e on e.company_id = k.company_id and e.employee_id = k.employee_id
    where k.api_key_id = any(${apiKeyIds}::bigint[]) and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > ${now}) and e.is_active and not e.is_deleted`.execute(db);
  const live = new Set(rows.map(({ kind, id }) => `${kind} ${id}`));
  return (one) => live.has(`${one.kind} ${one.kind === 'session' ? one.sessionId : one.apiKeyId}`);
}
