import type { Settings } from '../../kernel/context.ts';
import { scopesOfAreas, scopesOfClients, type Scope } from '../../platform/scopes.ts';
import { OAuthError } from './errors.ts';

/** A SHA-256 in base64url. */
export const codeChallengeForm = /^[\w-]{43}$/;
export const stateMax = 2_000;

/** What access tokens are for (RFC 8707). */
export const resourceOf = ({ publicUrl }: Pick<Settings, 'publicUrl'>): string => `${publicUrl}/mcp`;

export function checkResource(settings: Pick<Settings, 'publicUrl'>, asked: string | undefined): void {
  const resource = resourceOf(settings);
  if (asked !== resource) throw new OAuthError('invalid_target', `resource must be ${resource}`);
}

/** The scopes that a client asks for; those of all areas if it asks for none. */
export function readScopes(asked: string | undefined): readonly Scope[] {
  const words = [...new Set((asked ?? '').split(' ').filter((word) => word !== ''))];
  const unknown = words.find((word) => !(scopesOfClients as readonly string[]).includes(word));
  if (unknown !== undefined)
    throw new OAuthError('invalid_scope', 'scope has one that does not exist or is not for clients');
  return words.length === 0 ? scopesOfAreas : (words as Scope[]);
}

/** What a client asks a person for; its client and redirect URI have been checked. */
export type AuthorizationRequest = { scopes: readonly Scope[]; codeChallenge: string };

/** Throws the error with which the person is sent back. */
export function readRequest(
  settings: Pick<Settings, 'publicUrl'>,
  asked: Partial<Record<string, string>>,
): AuthorizationRequest {
  if (asked['response_type'] === undefined) throw new OAuthError('invalid_request', 'response_type is missing');
  if (asked['response_type'] !== 'code')
    throw new OAuthError('unsupported_response_type', 'response_type must be code');
  const { code_challenge: codeChallenge = '', code_challenge_method: method } = asked;
  if (method !== 'S256') throw new OAuthError('invalid_request', 'code_challenge_method must be S256');
  if (!codeChallengeForm.test(codeChallenge))
    throw new OAuthError('invalid_request', 'code_challenge must be a SHA-256 in base64url');
  if ((asked['state']?.length ?? 0) > stateMax) throw new OAuthError('invalid_request', 'state is too long');
  checkResource(settings, asked['resource']);
  return { scopes: readScopes(asked['scope']), codeChallenge };
}
