/** What an API key may be used for. */
export const scopes = ['read', 'write', 'login'] as const;
export type Scope = (typeof scopes)[number];

/**
 * How the caller proved who they are. Only a session of their own has an account: one that a company's API key opened
 * is bound to an employee of that company, and neither it nor a key reaches what belongs to the account.
 */
export type Credential =
  | { kind: 'session'; sessionId: number; accountId: number }
  | { kind: 'boundSession'; sessionId: number }
  | { kind: 'apiKey'; apiKeyId: number; scopes: Scope[] };

/** Who is behind a credential, as limits count them. */
export const nameOf = (credential: Credential): string =>
  credential.kind === 'apiKey' ? `key ${credential.apiKeyId}` : `session ${credential.sessionId}`;
