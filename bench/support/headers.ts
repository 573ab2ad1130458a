import { sessionEnd } from '../../server/kernel/refresh-token-rules.ts';
import { createTokens } from '../../server/platform/tokens.ts';
import type { Caller } from '../load/job.ts';
import type { World } from './world.ts';

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

/** Those of the world who call, each with a session. */
export async function callersOf({ callers }: World, keys: string): Promise<Caller[]> {
  const tokens = await createTokens(keys);
  return Promise.all(
    callers.map(async ({ employeeId, sessionId }) => ({ employeeId, headers: await headersOf(tokens, sessionId) })),
  );
}
