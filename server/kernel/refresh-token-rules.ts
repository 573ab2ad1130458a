import type { Db } from '../../db/open.ts';
import type { Services } from './context.ts';
import { INVALID_TOKEN, SESSION_ENDED } from '../errors/errors.ts';
import { Concerning } from './security-log.ts';
import { refreshLifetimeMs } from '../platform/tokens.ts';

/** Tabs of one browser race for the rotation; the losers receive the winner's token for this long. */
const graceMs = 10_000;

const sessionLifetimeMs = 90 * 24 * 3600 * 1000;

export type LiveSession = { refresh_generation: number; rotated_at: Date; signed_in_at: Date; expires_at: Date };

/**
 * When a session that is renewed now ends: after 30 days without a refresh, at the latest 90 days after its sign-in.
 */
export const sessionEnd = (signedInAt: Date, now: Date): Date =>
  new Date(Math.min(now.getTime() + refreshLifetimeMs, signedInAt.getTime() + sessionLifetimeMs));

/**
 * Returns the live session of a genuine refresh token, before a token or session is issued from it: a refresh, an
 * access token for an expired one, a change of company. The token must be the session's current one, or its predecessor
 * for 10 seconds. An older one was used twice, so it was stolen: that ends the session even though the request fails.
 * So call it before the first statement of a mutation's transaction. Without `endsSession` it is refused only.
 */
export async function checkRefreshToken(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  { sessionId, generation }: { sessionId: number; generation: number },
  { endsSession = true } = {},
): Promise<LiveSession> {
  const now = clock.now();
  // A session belongs to its account, in any company.
  const { db } = database.acrossCompanies;
  const session = await getLiveSession(db, sessionId, now);
  if (!isStolen(session, generation, now)) return session;
  if (!endsSession)
    throw INVALID_TOKEN({
      detail: 'The refresh token of this connection was replaced: connect again with the current pair.',
    });
  await db
    .updateTable('sessions')
    .set({ ended_at: now, ended_because: 'refresh token used twice' })
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .execute();
  throw SESSION_ENDED({ cause: new Concerning({ sessionId, because: 'refresh token used twice' }) });
}

export async function getLiveSession(db: Db, sessionId: number, now: Date): Promise<LiveSession> {
  return db
    .selectFrom('sessions as s')
    .leftJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 's.company_id').onRef('e.employee_id', '=', 's.employee_id'),
    )
    .leftJoin('companies as c', 'c.company_id', 's.company_id')
    .where('s.session_id', '=', sessionId)
    .where('s.ended_at', 'is', null)
    .where('s.expires_at', '>', now)
    .where((eb) => eb.or([eb('s.employee_id', 'is', null), eb('e.is_active', '=', true)]))
    .where((eb) => eb.or([eb('c.closes_at', 'is', null), eb('c.closes_at', '>', now)]))
    .select(['s.refresh_generation', 's.rotated_at', 's.signed_in_at', 's.expires_at'])
    .executeTakeFirstOrThrow(() => SESSION_ENDED());
}

function isStolen(session: LiveSession, generation: number, now: Date): boolean {
  if (generation === session.refresh_generation) return false;
  const isJustRotated =
    generation === session.refresh_generation - 1 && now.getTime() - session.rotated_at.getTime() <= graceMs;
  return !isJustRotated;
}
