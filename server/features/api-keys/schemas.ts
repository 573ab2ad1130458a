import { z } from 'zod';
import { scopes } from '../../kernel/context.ts';
import { id, moment } from '../../kernel/wire.ts';

export const ApiKey = z
  .object({
    _id: id,
    name: z.string(),
    start: z.string().meta({ description: 'The first characters of the key, to tell it from others' }),
    scopes: z.array(z.enum(scopes)),
    expiresAt: moment.nullable(),
    lastUsedAt: moment.nullable(),
    createdAt: moment,
  })
  .meta({ id: 'ApiKey' });
