import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { auditClient } from '../../kernel/audit.ts';
import { hashSecret } from '../../kernel/authentication.ts';
import type { Context } from '../../kernel/context.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { OAuthError } from './errors.ts';

export type Grant = {
  companyId: number;
  apiKeyId: number;
  employeeId: number;
  clientId: string;
  scopes: string[];
  createdAt: Date;
  accessExpiresAt: Date | null;
  isLive: boolean;
  codeExpiresAt: Date;
  isCodeUsed: boolean;
  redirectUri: string;
  codeChallenge: string;
  refreshHash: string | null;
  previousRefreshHash: string | null;
  rotatedAt: Date | null;
};

type Place = { companyId: number; apiKeyId: number };
export type FoundBy = 'code_hash' | 'family_hash' | 'key_hash';

/** Where a secret leads to. Its company is not known yet. */
export async function findPlace({ services }: Context, by: FoundBy, secret: string): Promise<Place | undefined> {
  const { db } = services.database.acrossCompanies;
  const { rows } = await sql<Place>`
    select g.company_id as "companyId", g.api_key_id as "apiKeyId"
    from oauth_grants as g join api_keys as k on k.company_id = g.company_id and k.api_key_id = g.api_key_id
    where ${sql.ref(by === 'key_hash' ? 'k.key_hash' : `g.${by}`)} = ${hashSecret(secret)}`.execute(db);
  return rows[0];
}

async function lockGrant(db: Db, { companyId, apiKeyId }: Place, now: Date): Promise<Grant | undefined> {
  const { rows } = await sql<Grant>`
    select k.company_id as "companyId", k.api_key_id as "apiKeyId", k.employee_id as "employeeId", k.client_id as "clientId",
      k.scopes, k.created_at as "createdAt", k.access_expires_at as "accessExpiresAt",
      k.revoked_at is null and k.expires_at > ${now} and e.is_active and not e.is_deleted
        and coalesce(c.closes_at > ${now}, true) as "isLive",
      g.code_expires_at as "codeExpiresAt", g.code_used_at is not null as "isCodeUsed", g.redirect_uri as "redirectUri",
      g.code_challenge as "codeChallenge", g.refresh_hash as "refreshHash",
      g.previous_refresh_hash as "previousRefreshHash", g.rotated_at as "rotatedAt"
    from api_keys as k
    join oauth_grants as g on g.company_id = k.company_id and g.api_key_id = k.api_key_id
    join employees as e on e.company_id = k.company_id and e.employee_id = k.employee_id
    join companies as c on c.company_id = k.company_id
    where k.company_id = ${companyId} and k.api_key_id = ${apiKeyId}
    for no key update of k, g`.execute(db);
  return rows[0];
}

/** What came of a locked grant: an answer, or a refusal, which is committed as well. */
type Outcome<Answer> = { answer: Answer } | { refused: string };

/** Runs `decide` on a locked grant in a transaction of its own. Throws `invalid_grant` if there is none or it refuses. */
export async function withGrant<Answer>(
  ctx: Context,
  operation: string,
  found: { by: FoundBy; secret: string; otherwise: string },
  decide: (db: Db, grant: Grant, now: Date) => Promise<Outcome<Answer>>,
): Promise<Answer> {
  const place = await findPlace(ctx, found.by, found.secret);
  if (!place) throw new OAuthError('invalid_grant', found.otherwise);
  const now = ctx.services.clock.now();
  const audited = { ...ctx.services, writeAudit: auditClient(ctx, operation, place) };
  const outcome = await inTransaction<Outcome<Answer>>(audited, place.companyId, async (db) => {
    const grant = await lockGrant(db, place, now);
    if (!grant) return { refused: found.otherwise };
    return decide(db, grant, now);
  });
  if ('refused' in outcome) throw new OAuthError('invalid_grant', outcome.refused);
  return outcome.answer;
}
