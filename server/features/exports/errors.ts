import { defineError } from '../../errors/api-error.ts';

export const EXPORT_IN_PROGRESS = defineError(
  'EXPORT_IN_PROGRESS',
  'CONFLICT',
  'The company has an export that is not finished: wait for it, or delete it.',
);
export const EXPORT_LIMIT_REACHED = defineError(
  'EXPORT_LIMIT_REACHED',
  'CONFLICT',
  'The company has 5 exports: delete one, or wait until one expires.',
);
