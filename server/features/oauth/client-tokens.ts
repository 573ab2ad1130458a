import { randomBytes } from 'node:crypto';
import { clientTokenPrefix } from '../../kernel/authentication.ts';
import type { Tokens } from '../../platform/tokens.ts';
import { withChecksum } from '../api-keys/new-key.ts';

/* The secrets of clients: 256 random bits behind a prefix that says what they are. */

const random = (bytes: number): string => randomBytes(bytes).toString('base64url');
export const newCode = (): string => `wmsa_${random(32)}`;
const refreshTokenForm = /^(wmsr_[\w-]{22})[\w-]{49}$/;

export type Pair = { accessToken: string; refreshToken: string };

export const newPair = (): Pair => ({
  accessToken: withChecksum(`${clientTokenPrefix}${random(32)}`),
  refreshToken: withChecksum(`wmsr_${random(16)}${random(32)}`),
});

/**
 * The pair that follows on a refresh token: always the same one, which nobody else can compute. By each key of the
 * service: while keys are rotated, another node may have answered the first time.
 */
export function successorsOf(tokens: Tokens, family: string, presented: string): [Pair, ...Pair[]] {
  const access = tokens.digests('oauth access token', presented);
  const refresh = tokens.digests('oauth refresh token', presented);
  return access.map((digest, index) => ({
    accessToken: withChecksum(`${clientTokenPrefix}${digest}`),
    refreshToken: withChecksum(`${family}${refresh[index]!}`),
  })) as [Pair, ...Pair[]];
}

/** What all refresh tokens of a grant begin with; undefined for what is none. */
export const familyOf = (refreshToken: string): string | undefined => refreshTokenForm.exec(refreshToken)?.[1];
