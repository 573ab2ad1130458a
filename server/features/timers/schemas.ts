import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';

/** A running timer. */
export const Timer = z
  .object({
    taskId: idOf('task'),
    userId: idOf('employee').meta({ description: 'The employee whose time it takes' }),
    startTime: moment,
    description: z.string().nullable(),
  })
  .meta({ id: 'Timer' });
