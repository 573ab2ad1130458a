import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { day, moment } from '../../kernel/wire/moments.ts';
import { Money, moneyUpTo, rateMax } from '../../kernel/wire/money.ts';

const validFrom = day.meta({
  description:
    'The first day on which it holds, until the next rate of the same; the day of a log is that of its start',
});

/** What a rate is for. */
export const subjectFields = {
  task_id: idOf('task').optional().meta({ description: 'A rate of this task for all who work on it; given alone' }),
  project_id: idOf('project').optional().meta({ description: 'A rate of this project' }),
  employee_id: idOf('employee').optional().meta({ description: 'A rate of this employee, on the project or on all' }),
};

export const rateFields = {
  validFrom,
  hourlyRate: moneyUpTo(rateMax)
    .nullable()
    .meta({ description: 'For an hour; null ends the rate before, so that the next less specific one holds' }),
};

export const Rate = z
  .object({
    _id: idOf('rate'),
    company_id: idOf('company'),
    task_id: idOf('task').nullable(),
    project_id: idOf('project').nullable(),
    employee_id: idOf('employee').nullable(),
    validFrom,
    hourlyRate: Money.nullable().meta({ description: 'null where the rate before ends' }),
    createdAt: moment,
  })
  .meta({ id: 'Rate' });
