import { z } from 'zod';
import type { ApiError } from '../../errors/api-error.ts';
import { PASSWORD_MISMATCH, PASSWORD_TOO_WEAK } from './errors.ts';

const charactersMin = 8;

/** The most common passwords, from leaks; loaded when somebody chooses one. */
let common: Promise<ReadonlySet<string>> | undefined;

async function loadCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common'].map((word) => word.toLowerCase()));
}

/**
 * The two fields of a new password, the same everywhere. The limit allows long passwords, but hashing a megabyte is too
 * slow.
 */
export const newPasswordFields = {
  new_password: z.string().max(1024).meta({
    description:
      'At least 8 characters, none of the most common passwords, not the address, not one character repeated; no other rules',
  }),
  confirm_password: z.string().max(1024),
};

/** No composition rules: length and not being a common password are what helps. */
export async function checkNewPassword(fields: { new_password: string; confirm_password: string }): Promise<void> {
  const { new_password: password, confirm_password: confirmation } = fields;
  if (password !== confirmation) {
    throw PASSWORD_MISMATCH({
      issues: [{ path: ['confirm_password'], message: 'must equal new_password', code: 'mismatch' }],
    });
  }
  const characters = Array.from(password);
  if (characters.length < charactersMin || new Set(characters).size === 1) throw tooWeak();
  if ((await (common ??= loadCommon())).has(password.toLowerCase())) throw tooWeak();
}

/** An attacker tries the e-mail address first, with its domain and without. */
export function checkNotAddress({ new_password: password }: { new_password: string }, address: string): void {
  const guesses = [address, address.slice(0, address.lastIndexOf('@'))];
  if (guesses.includes(password.trim().toLowerCase())) throw tooWeak();
}

function tooWeak(): ApiError {
  const message = `must have at least ${charactersMin} characters and not be a common password, the address or one character repeated`;
  return PASSWORD_TOO_WEAK({ issues: [{ path: ['new_password'], message, code: 'too_weak' }] });
}
