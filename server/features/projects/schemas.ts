import { z } from 'zod';
import { decimal, idOf, text } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { amountMax, Money, moneyUpTo } from '../../kernel/wire/money.ts';

export const projectStatuses = ['active', 'on_hold', 'completed', 'archived'] as const;
export const projectStatus = z.enum(projectStatuses);

/** Planned hours. */
export const hours = decimal({ max: 99_999_999.99 });

export const Project = z
  .object({
    _id: idOf('project'),
    name: z.string(),
    description: z.string().nullable(),
    companyId: idOf('company'),
    owner_id: idOf('employee'),
    allocatedHours: z.number().nullable().meta({ description: 'null is without limit' }),
    loggedHours: z.number().meta({ description: 'Hours logged on its tasks, to two decimals' }),
    billable: z.boolean().meta({ description: 'Whether new logs are charged, unless they say otherwise' }),
    budget: Money.nullable().meta({
      description: 'What its logs may amount to, for admins; null for others and without limit',
    }),
    amounts: z
      .array(Money)
      .nullable()
      .meta({ description: 'What its logs amount to in each currency, for admins; null for others' }),
    status: projectStatus,
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'Project' });

/** The fields of a project that callers set; each operation says which may be omitted. */
export const projectFields = {
  name: text({ max: 200 }),
  description: text({ min: 0, max: 20_000 }).nullable(),
  allocatedHours: hours.nullable().meta({ description: 'Rounded half up to two decimals; null is without limit' }),
  owner_id: idOf('employee').meta({ description: 'An active employee of the company' }),
  billable: z.boolean().meta({ description: 'Whether new logs are charged, unless they say otherwise' }),
  budget: moneyUpTo(amountMax).nullable().meta({
    description:
      'What its logs may amount to, set by admins; amounts in other currencies do not count. null is without limit',
  }),
};
