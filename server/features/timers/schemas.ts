import { z } from 'zod';
import { id, moment } from '../../kernel/wire.ts';

/** Time that is being taken. */
export const Timer = z
  .object({
    taskId: id,
    userId: id.meta({ description: 'The employee whose time it takes' }),
    startTime: moment,
    description: z.string().nullable(),
  })
  .meta({ id: 'Timer' });
