import { z } from 'zod';
import { acrossCompanies } from '../../../db/scope.ts';
import { INVALID_TOKEN, SESSION_ENDED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { checkRefreshToken, getLiveSession, sessionEnd } from '../../kernel/refresh-token-rules.ts';
import { TokenPair } from './schemas.ts';
import { issueTokenPair } from './start-session.ts';

export const refresh = open
  .meta(
    rest('POST /api/token/refresh/', {
      section: 'Additions',
      summary: 'Exchange a refresh token for a new pair',
      notAudited: 'goes on with a session whose beginning is audited; a stolen token is a refusal, and audited',
      description:
        'The refresh token that was sent dies. Sending a dead one again ends the whole session, for one of its two holders stole it; only within 10 seconds of its rotation, when two tabs race, it is answered with the same successor instead. A session lives 90 days from its sign-in at most, however often it is refreshed.',
      errors: [INVALID_TOKEN, SESSION_ENDED],
      example: { refresh_token: 'eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.eyJzaWQiOjQyfQ.c2lnbmF0dXJl' },
    }),
  )
  .input(z.object({ refresh_token: z.string().min(1).max(4096) }))
  .output(TokenPair)
  .mutation(async ({ ctx, input }) => {
    const { tokens, clock } = ctx.services;
    const claims = await tokens.verifyRefresh(input.refresh_token);
    const now = clock.now();
    if (claims.expiresAt <= now) throw INVALID_TOKEN();
    const { sessionId, generation } = claims;
    const session = await checkRefreshToken(ctx.services, claims);
    // A session belongs to its account, in any company.
    const db = acrossCompanies(ctx.db);
    const rotated = await db
      .updateTable('sessions')
      .set({
        refresh_generation: generation + 1,
        rotated_at: now,
        last_used_at: now,
        expires_at: sessionEnd(session.signed_in_at, now),
      })
      .where('session_id', '=', sessionId)
      .where('refresh_generation', '=', generation)
      .where('ended_at', 'is', null)
      .returning(['refresh_generation', 'rotated_at', 'expires_at'])
      .executeTakeFirst();
    // Another tab was first: its new token is the only valid one.
    const current = rotated ?? (await getLiveSession(db, sessionId, now));
    return issueTokenPair(ctx.services, {
      sessionId,
      generation: current.refresh_generation,
      rotatedAt: current.rotated_at,
      expiresAt: current.expires_at,
    });
  });
