import { z } from 'zod';
import { rule } from '../../errors/issues.ts';
import { id, idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';

export const Company = z
  .object({
    company_id: idOf('company'),
    name: z.string(),
    timezone: z.string().meta({ description: 'IANA time zone name', examples: ['Europe/Berlin'] }),
    owner_id: idOf('employee').nullable(),
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'Company' });

/** What can be done until the end of a closed company. */
export const exportOffer = z.string().meta({ description: 'What can be done until then, in a sentence' });

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

export const Payment = z
  .object({
    _id: id,
    amount: z.number(),
    currency: z.string().meta({ description: 'ISO 4217', examples: ['USD'] }),
    status: z.enum(['pending', 'paid', 'failed', 'refunded']),
    paidAt: moment,
  })
  .meta({ id: 'Payment' });

export const Plan = z
  .object({
    _id: id,
    code: z.string(),
    name: z.string(),
    pricePerMonth: z.number(),
    currency: z.string().meta({ description: 'ISO 4217', examples: ['USD'] }),
    maxEmployees: z.int().nullable().meta({ description: 'null is without limit' }),
    storageBytes: z.int(),
    change: z
      .enum(['current', 'upgrade', 'downgrade'])
      .meta({ description: 'What taking this plan would be; without an active subscription each one is an upgrade' }),
  })
  .meta({ id: 'Plan' });

/** Names without an area have no digit: that excludes offsets and POSIX rules such as EST5EDT. */
const timezoneForm = /^[A-Za-z_-]+(\/[\w+-]+)*$/;

function isTimezone(name: string): boolean {
  if (!timezoneForm.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

export const unknownTimezone = 'must be an IANA time zone name, such as Europe/Berlin';

/** An IANA name that this runtime knows, aliases included. The database checks its letter case. */
export const timezone = z
  .string()
  .refine(isTimezone, rule('invalid_value', unknownTimezone))
  .meta({ description: 'IANA time zone name, in the letter case of IANA', examples: ['Europe/Berlin'] });
