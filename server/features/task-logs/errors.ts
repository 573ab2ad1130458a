import { defineError } from '../../errors/api-error.ts';

export const DUPLICATE_TASK_LOG = defineError(
  'DUPLICATE_TASK_LOG',
  'CONFLICT',
  'This employee already has a log on this task that starts at the same moment.',
);
