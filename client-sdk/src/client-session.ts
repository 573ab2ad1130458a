import type { Employee, SignedInResult } from './contract.ts';
import { randomKey } from './random-key.ts';

/** A sign-in as the client keeps it. It can be stored as JSON, and is as good as a password while it lasts. */
export interface ClientSession {
  /** The same from the sign-in to the end of the session. */
  id: string;
  accessToken: string;
  refreshToken: string;
  /** How often the tokens were renewed: of two copies of a session the one with more is the newer. */
  rotation: number;
  /** When the access token expires, in milliseconds since 1970 by this machine's clock; null where that is not known. */
  expiresAt: number | null;
  /** Who signed in, as of then; null for an account that belongs to no company yet. */
  employee: Pick<Employee, '_id' | 'name' | 'email' | 'isAdmin' | 'isTeamLeader' | 'profilePicture'> | null;
  company: { company_id: number; company_name: string } | null;
}

/** Why a session is handed to `onSession`; `ended` means that the service refuses it: sign in again. */
export type SessionChange = 'signed in' | 'refreshed' | 'signed out' | 'ended';

export type TokenPair = { accessToken: string; refreshToken: string };

export interface SessionOptions {
  /** Begins with this session, or with a token pair from elsewhere. */
  session?: ClientSession | (TokenPair & Partial<ClientSession>) | null | undefined;
  /**
   * Answers the session that was kept. It is asked when the client is made and again before each refresh, because
   * another tab or process that shares it may have renewed it.
   */
  loadSession?: (() => ClientSession | null | undefined | Promise<ClientSession | null | undefined>) | undefined;
  /** Keeps a session that has begun or was renewed; forgets it where it is null. Awaited by the call that caused it. */
  onSession?: ((session: ClientSession | null, change: SessionChange) => void | Promise<void>) | undefined;
}

/** An access token with less left than this is renewed first. */
const renewalMs = 60_000;

export const isFresh = ({ expiresAt }: ClientSession): boolean =>
  expiresAt === null || expiresAt - renewalMs > Date.now();

/** The session that a sign-in begins. */
export function sessionOf({ employee, company, ...pair }: SignedInResult): ClientSession {
  return completeSession({
    accessToken: pair.access_token,
    refreshToken: pair.refresh_token,
    expiresAt: Date.now() + pair.expires_in * 1000,
    employee: employee && about(employee),
    company,
  });
}

/** A session of what is known of one. */
export function completeSession(given: TokenPair & Partial<ClientSession>): ClientSession {
  return { id: randomKey(), rotation: 0, expiresAt: null, employee: null, company: null, ...given };
}

/** What a page shows of a person; other fields depend on the rights of the caller. */
function about({ _id, name, email, isAdmin, isTeamLeader, profilePicture }: Employee): ClientSession['employee'] {
  return { _id, name, email, isAdmin, isTeamLeader, profilePicture };
}
