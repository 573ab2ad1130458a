import type { Insertable } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { ADMIN_REQUIRED } from '../../errors/errors.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import type { Member, RequestInfo } from '../../kernel/context.ts';
import { scopesOfAdmins, type Scope } from '../../platform/scopes.ts';
import { getAccountById } from '../auth/accounts.ts';
import { getCompany } from '../company/queries.ts';
import { notifyAccountOwner } from '../notices/account-notice.ts';
import { apiKeyCreated } from '../memberships/events.ts';
import { lockCaller } from '../memberships/lock-access.ts';
import { apiKeyColumns, toApiKeyHeader } from '../memberships/api-key-changes.ts';

/** Throws if the caller may not give a key one of the scopes. */
export function checkGrantable({ isAdmin }: Member, scopes: readonly Scope[]): void {
  const reserved = scopes.find((scope) => scopesOfAdmins.includes(scope));
  if (reserved !== undefined && !isAdmin)
    throw ADMIN_REQUIRED({ detail: `Only an admin may make a key with the scope ${reserved}.` });
}

type NewKey = Omit<Insertable<Schema['api_keys']>, 'company_id' | 'employee_id' | 'created_at' | 'scopes'> & {
  scopes: Scope[];
  created_at: Date;
};

/** Inserts a key of the caller, if their access has not ended, records that, and tells the owner of their address by mail. */
export async function insertApiKey(
  { db, caller, request }: { db: Db; caller: Member; request: RequestInfo },
  key: NewKey,
  { kind, ...holder }: { kind: 'api key made' | 'client authorized'; accountId: number; sessionId: number },
) {
  const { companyId, employeeId: actorId } = caller;
  const { created_at: now, name, scopes } = key;
  await lockCaller(db, { ...holder, companyId, employeeId: actorId });
  const row = await db
    .insertInto('api_keys')
    .values({ ...key, company_id: companyId, employee_id: actorId })
    .returning(apiKeyColumns)
    .executeTakeFirstOrThrow();
  recordChange(db, apiKeyCreated, {
    companyId,
    streams: [changeStream.company(companyId)],
    payload: { actorId, apiKeyId: row.api_key_id, apiKey: toApiKeyHeader(row) },
    at: now,
  });
  const { email } = await getAccountById(db, holder.accountId);
  const { name: company } = await getCompany(db, companyId);
  await notifyAccountOwner(db, { email, notice: { kind, name, company, scopes }, request, now });
  return row;
}
