import { defineError } from '../../errors/api-error.ts';

export const INVALID_CREDENTIALS = defineError(
  'INVALID_CREDENTIALS',
  'UNAUTHORIZED',
  'The e-mail address or the password is wrong.',
);
export const INVALID_OTP = defineError(
  'INVALID_OTP',
  'UNAUTHORIZED',
  'The code is wrong, used or older than 10 minutes: ask for a new one.',
);
export const PROOF_REQUIRED = defineError(
  'PROOF_REQUIRED',
  'UNAUTHORIZED',
  'Send a proof as `Authorization: Bearer`: a login ticket, a token pair of that account, or an API key of that company with the scope login.',
);
