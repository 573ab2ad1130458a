import type { ExpressionBuilder, Selectable } from 'kysely';
import { z } from 'zod';
import type { Schema } from '../../../db/schema.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { scopes, type Scope } from '../../platform/scopes.ts';

export const ApiKeyScope = z.enum(scopes).meta({
  id: 'ApiKeyScope',
  description:
    'What a key may do: an area and `read` (GET operations and subscriptions) or `write` (the others), as each operation says. `read` and `write` hold all areas, with the admin rights of the key’s maker; `admin` gives a key of single areas these rights there; `login` signs employees in through POST /token-login/',
});

export const ApiKey = z
  .object({
    _id: idOf('apiKey'),
    name: z.string(),
    start: z.string().meta({ description: 'The first characters of the key, to tell it from others' }),
    scopes: z.array(ApiKeyScope),
    expiresAt: moment.nullable(),
    lastUsedAt: moment.nullable().meta({ description: 'To the minute; null if it was never used' }),
    createdAt: moment,
    client: z
      .object({
        client_id: z.string().meta({ description: 'As the client calls itself in requests' }),
        name: z.string(),
      })
      .nullable()
      .meta({ description: 'The OAuth client that holds and renews the key; null if a person made it for a script' }),
  })
  .meta({ id: 'ApiKey' });

/** The columns of an ApiKey. */
export const apiKeyFields = [
  'api_key_id',
  'name',
  'key_start',
  'scopes',
  'expires_at',
  'last_used_at',
  'created_at',
  'client_id',
] as const;

/** A client has not fetched its key yet: for a minute after the consent, nobody holds it. */
export const isFetched = (eb: ExpressionBuilder<Schema, 'api_keys'>) =>
  eb.or([eb('client_id', 'is', null), eb('access_expires_at', 'is not', null)]);

/** Neither expired nor still to be fetched; whether it was revoked is not asked. */
export const isLiveAt = (now: Date) => (eb: ExpressionBuilder<Schema, 'api_keys'>) =>
  eb.and([eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]), isFetched(eb)]);

export function toApiKey(row: Pick<Selectable<Schema['api_keys']>, (typeof apiKeyFields)[number]>) {
  return {
    _id: row.api_key_id,
    name: row.name,
    start: row.key_start,
    scopes: row.scopes as Scope[],
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
    client: row.client_id === null ? null : { client_id: row.client_id, name: row.name },
  };
}
