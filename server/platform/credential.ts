import type { Scope } from './scopes.ts';

/**
 * The caller's credential. Only a session of their own has an account: a session that a company's API key opened is
 * bound to an employee of that company, and neither it nor a key reaches the account.
 */
export type Credential =
  | { kind: 'session'; sessionId: number; accountId: number }
  | { kind: 'boundSession'; sessionId: number }
  | { kind: 'apiKey'; apiKeyId: number; scopes: Scope[] };

/** The rate limit key of a credential. */
export const nameOf = (credential: Credential): string =>
  credential.kind === 'apiKey' ? `key ${credential.apiKeyId}` : `session ${credential.sessionId}`;
