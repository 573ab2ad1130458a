import { z } from 'zod';
import { id, moment } from '../../kernel/wire.ts';

export const Company = z
  .object({
    company_id: id,
    name: z.string(),
    timezone: z.string().meta({ description: 'IANA time zone name', examples: ['Europe/Berlin'] }),
    owner_id: id.nullable(),
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'Company' });

export const Subscription = z
  .object({
    _id: id,
    plan: z.string().meta({ description: 'Code of the plan' }),
    status: z.enum(['trialing', 'active', 'past_due', 'cancelled', 'expired']),
    startsAt: moment,
    endsAt: moment.nullable(),
    trial: z.boolean(),
  })
  .meta({ id: 'Subscription' });
