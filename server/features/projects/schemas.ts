import { z } from 'zod';
import { decimal, idOf, text } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';

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
};
