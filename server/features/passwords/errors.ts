import { defineError } from '../../errors/api-error.ts';

export const PASSWORD_MISMATCH = defineError(
  'PASSWORD_MISMATCH',
  'BAD_REQUEST',
  'The new password and its confirmation differ.',
);
export const PASSWORD_TOO_WEAK = defineError(
  'PASSWORD_TOO_WEAK',
  'BAD_REQUEST',
  'The new password has fewer than 8 characters, is one of the most common ones, the address, or one character repeated.',
);
export const CURRENT_PASSWORD_WRONG = defineError(
  'CURRENT_PASSWORD_WRONG',
  'FORBIDDEN',
  'The current password is wrong.',
);
export const INVALID_RESET_TOKEN = defineError(
  'INVALID_RESET_TOKEN',
  'UNAUTHORIZED',
  'The reset link is not valid, was used, or is older than 30 minutes: ask for a new one.',
);
