import { z } from 'zod';
import { scopes } from '../../platform/credential.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';

export const ApiKey = z
  .object({
    _id: idOf('apiKey'),
    name: z.string(),
    start: z.string().meta({ description: 'The first characters of the key, to tell it from others' }),
    scopes: z.array(z.enum(scopes)),
    expiresAt: moment.nullable(),
    lastUsedAt: moment.nullable(),
    createdAt: moment,
  })
  .meta({ id: 'ApiKey' });
