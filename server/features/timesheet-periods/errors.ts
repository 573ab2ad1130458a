import { defineError } from '../../errors/api-error.ts';

export const PERIOD_SUBMITTED = defineError(
  'PERIOD_SUBMITTED',
  'CONFLICT',
  'The period, or a part of it, was handed in already.',
);
export const PERIOD_NOT_SUBMITTED = defineError(
  'PERIOD_NOT_SUBMITTED',
  'CONFLICT',
  'The period is not waiting for a decision: only such a one can be withdrawn.',
);
export const PERIOD_TIMER_RUNNING = defineError(
  'PERIOD_TIMER_RUNNING',
  'CONFLICT',
  'The timer of the employee runs in this period: stop it first.',
);
