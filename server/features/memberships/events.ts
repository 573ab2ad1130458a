import { z } from 'zod';
import { changeEvent } from '../../kernel/change-event.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { ApiKey } from './api-key.ts';

/** An API key in events: nothing of the key itself, nor when it is used. */
const ApiKeyHeader = ApiKey.omit({ start: true, lastUsedAt: true, client: true })
  .extend({ userId: idOf('employee').meta({ description: 'The employee as whom the key acts' }) })
  .meta({ id: 'ApiKeyHeader', description: 'An API key without the key itself' });

const apiKeyId = ApiKeyHeader.shape._id;

export const apiKeyCreated = changeEvent('api_key.created', 'An employee has made an API key.', {
  apiKeyId,
  apiKey: ApiKeyHeader,
});

export const apiKeyRevoked = changeEvent(
  'api_key.revoked',
  'An API key was revoked: by its employee or an admin, or because the employee lost access. The end of its lifetime has no event.',
  {
    apiKeyId,
    apiKey: ApiKeyHeader,
    reason: z.string().meta({ description: 'Why, in a few words', examples: ['ended by an admin'] }),
  },
);
