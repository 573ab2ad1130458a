import type { Selectable } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import type { Scope } from '../../platform/scopes.ts';
import type { Ending } from './end-access.ts';
import { apiKeyRevoked } from './events.ts';

/** The columns of a key that its events show. */
export const apiKeyColumns = ['api_key_id', 'employee_id', 'name', 'scopes', 'expires_at', 'created_at'] as const;
type ApiKeyRow = Pick<Selectable<Schema['api_keys']>, (typeof apiKeyColumns)[number]>;

export function toApiKeyHeader(row: ApiKeyRow) {
  return {
    _id: row.api_key_id,
    userId: row.employee_id,
    name: row.name,
    scopes: row.scopes as Scope[],
    expiresAt: row.expires_at,
    createdAt: row.created_at,
  };
}

/** Records that a key was revoked. */
export function recordRevoked(db: Db, companyId: number, key: ApiKeyRow, { because, actorId, now }: Ending): void {
  recordChange(db, apiKeyRevoked, {
    companyId,
    streams: [changeStream.company(companyId)],
    payload: { actorId, apiKeyId: key.api_key_id, apiKey: toApiKeyHeader(key), reason: because },
    at: now,
  });
}
