import { sessionEnd } from '../../server/kernel/refresh-token-rules.ts';
import type { createTokens } from '../../server/platform/tokens.ts';

type Tokens = Awaited<ReturnType<typeof createTokens>>;

/** The headers of a session's requests, with a new pair of tokens. */
export async function headersOf(tokens: Tokens, sessionId: number) {
  const now = new Date();
  const refresh = { sessionId, generation: 1, issuedAt: now, expiresAt: sessionEnd(now, now) };
  return {
    authorization: `Bearer ${await tokens.issueAccess({ sessionId, now })}`,
    'x-refresh-token': await tokens.issueRefresh(refresh),
  };
}
