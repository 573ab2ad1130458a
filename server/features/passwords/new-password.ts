import { dictionary } from '@zxcvbn-ts/language-common';
import { z } from 'zod';
import { PASSWORD_MISMATCH, PASSWORD_TOO_WEAK } from './faults.ts';

const charactersMin = 8;

/** The most common passwords, from leaks. */
const common = new Set(dictionary['passwords-common'].map((word) => word.toLowerCase()));

/** The two fields of a new password, the same wherever one is set. Long ones are welcome; hashing a megabyte is not. */
export const newPasswordFields = {
  new_password: z
    .string()
    .max(1024)
    .meta({ description: 'At least 8 characters, none of the most common passwords; no other rules' }),
  confirm_password: z.string().max(1024),
};

/** No composition rules: length and not being on a list is what helps. */
export function checkNewPassword(fields: { new_password: string; confirm_password: string }): void {
  const { new_password: password, confirm_password: confirmation } = fields;
  if (password !== confirmation) {
    throw PASSWORD_MISMATCH({
      issues: [{ path: ['confirm_password'], message: 'must equal new_password', code: 'mismatch' }],
    });
  }
  if (Array.from(password).length < charactersMin || common.has(password.toLowerCase())) {
    const message = `must have at least ${charactersMin} characters and not be a common password`;
    throw PASSWORD_TOO_WEAK({ issues: [{ path: ['new_password'], message, code: 'too_weak' }] });
  }
}
