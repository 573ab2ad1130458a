import { defineError } from '../../errors/api-error.ts';

export const WEBHOOK_LIMIT_REACHED = defineError(
  'WEBHOOK_LIMIT_REACHED',
  'CONFLICT',
  'The company has 20 webhooks: delete one first.',
);
export const WEBHOOK_DISABLED = defineError(
  'WEBHOOK_DISABLED',
  'CONFLICT',
  'The webhook is disabled: enable it first (`isEnabled: true`).',
);
