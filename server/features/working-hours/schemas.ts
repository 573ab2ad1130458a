import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { WeekOfMinutes } from '../time-policies/schemas.ts';

export const validFrom = day.meta({ description: 'The first day on which it holds, until the next entry' });

export const WorkingHours = z
  .object({
    employee_id: idOf('employee'),
    entries: z.array(z.object({ validFrom, minutes: WeekOfMinutes })).meta({
      description:
        'By their days, the earliest first. Before the first one the `expectedMinutes` of the time policy hold',
    }),
  })
  .meta({ id: 'WorkingHours' });
