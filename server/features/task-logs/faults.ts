import { fault } from '../../kernel/fault.ts';

export const DUPLICATE_TASK_LOG = fault(
  'DUPLICATE_TASK_LOG',
  'CONFLICT',
  'This employee already has a log on this task that starts at the same moment.',
);
