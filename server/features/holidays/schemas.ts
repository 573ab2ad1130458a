import { z } from 'zod';
import { day } from '../../kernel/wire/moments.ts';

export const holidayDate = day.meta({ description: 'The day of the holiday', examples: ['2026-03-17'] });
export const holidayName = { description: 'Name of the holiday', examples: ['Saint Patrick’s Day'] };

export const Holidays = z
  .object({
    from: day,
    to: day,
    holidays: z
      .array(
        z.object({
          date: holidayDate,
          name: z.string().meta(holidayName),
        }),
      )
      .meta({ description: 'The holidays from `from` to `to`, by day' }),
  })
  .meta({ id: 'Holidays' });
