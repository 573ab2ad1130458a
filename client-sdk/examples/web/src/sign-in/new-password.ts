import { isApiError } from 'work-management-client';
import type { Problems } from '../use-form.ts';

/* What a new password must be, wherever one is set. */

export const newPasswordHint = 'At least eight characters, and none that everybody takes.';

export function blameNewPassword(error: unknown): Problems {
  if (!isApiError(error, 'PASSWORD_TOO_WEAK')) return {};
  return { 'new-password': 'This one is easily guessed: take a longer one, or a few words that nobody knows.' };
}
