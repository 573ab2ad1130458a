import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { INVALID_TOKEN, SESSION_ENDED } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { refreshLifetimeMs } from '../../kernel/tokens.ts';
import { TokenPair } from './schemas.ts';
import { makePair } from './sign-in.ts';

/** Tabs of one browser race for the rotation; the losers get the winner's token for this long. */
const graceMs = 10_000;

export const refresh = open
  .meta(
    rest('POST /api/token/refresh/', {
      section: 'Login',
      summary: 'Exchange a refresh token for a new pair',
      description:
        'The refresh token that was sent dies. Sending a dead one again ends the whole session, for one of its two holders stole it; only within 10 seconds of its rotation, when two tabs race, it is answered with the same successor instead.',
      faults: [INVALID_TOKEN, SESSION_ENDED],
      example: { refresh_token: 'eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.eyJzaWQiOjQyfQ.c2lnbmF0dXJl' },
    }),
  )
  .input(z.object({ refresh_token: z.string().min(1).max(4096) }))
  .output(TokenPair)
  .mutation(async ({ ctx, input }) => {
    const { tokens, clock, database } = ctx.services;
    const claims = await tokens.verifyRefresh(input.refresh_token);
    const now = clock.now();
    if (claims.expiresAt <= now) throw INVALID_TOKEN();
    const { sessionId, accountId, generation } = claims;

    const session = await findLiveSession(database.db, claims, now);
    if (isStolen(session, generation, now)) {
      // Kept although this request fails.
      await database.db
        .updateTable('sessions')
        .set({ ended_at: now, ended_because: 'refresh token used twice' })
        .where('session_id', '=', sessionId)
        .execute();
      throw SESSION_ENDED();
    }
    const rotated = await ctx.db
      .updateTable('sessions')
      .set({
        refresh_generation: generation + 1,
        rotated_at: now,
        last_used_at: now,
        expires_at: new Date(now.getTime() + refreshLifetimeMs),
      })
      .where('session_id', '=', sessionId)
      .where('refresh_generation', '=', generation)
      .where('ended_at', 'is', null)
      .returning(['refresh_generation', 'rotated_at'])
      .executeTakeFirst();
    // Another tab was first: its successor is the only one there is.
    const current = rotated ?? (await findLiveSession(ctx.db, claims, now));
    return makePair(ctx.services, {
      sessionId,
      accountId,
      generation: current.refresh_generation,
      rotatedAt: current.rotated_at,
    });
  });

type LiveSession = { refresh_generation: number; rotated_at: Date };

async function findLiveSession(
  db: Db,
  claims: { sessionId: number; accountId: number },
  now: Date,
): Promise<LiveSession> {
  const session = await db
    .selectFrom('sessions as s')
    .leftJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 's.company_id').onRef('e.employee_id', '=', 's.employee_id'),
    )
    .where('s.session_id', '=', claims.sessionId)
    .where('s.account_id', '=', claims.accountId)
    .where('s.ended_at', 'is', null)
    .where('s.expires_at', '>', now)
    .where((eb) => eb.or([eb('s.employee_id', 'is', null), eb('e.is_active', '=', true)]))
    .select(['s.refresh_generation', 's.rotated_at'])
    .executeTakeFirst();
  if (!session) throw SESSION_ENDED();
  return session;
}

function isStolen(session: LiveSession, generation: number, now: Date): boolean {
  if (generation === session.refresh_generation) return false;
  const isJustRotated =
    generation === session.refresh_generation - 1 && now.getTime() - session.rotated_at.getTime() <= graceMs;
  return !isJustRotated;
}
