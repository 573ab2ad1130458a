import type { Employee, SignedInResult } from './contract.ts';
import { randomKey } from './random-key.ts';

/** A session as the client stores it. It can be stored as JSON, and is as confidential as a password. */
export interface ClientSession {
  /** Constant from the sign-in to the end of the session. */
  id: string;
  accessToken: string;
  refreshToken: string;
  /** How often the tokens were renewed: of two copies of a session the one with the higher number is newer. */
  rotation: number;
  /** When the access token expires, in milliseconds since 1970 by this machine's clock; null if unknown. */
  expiresAt: number | null;
  /** The person at the time of the sign-in; null for an account without a company. */
  employee: Pick<Employee, '_id' | 'name' | 'email' | 'isAdmin' | 'isTeamLeader' | 'profilePicture'> | null;
  company: { company_id: number; company_name: string } | null;
}

/** The reason of a call of `onSession`; `ended` means that the service rejects the session: sign in again. */
export type SessionChange = 'signed in' | 'refreshed' | 'signed out' | 'ended';

export type TokenPair = { accessToken: string; refreshToken: string };

export interface SessionOptions {
  /** Starts with this session, or with a token pair from elsewhere. */
  session?: ClientSession | (TokenPair & Partial<ClientSession>) | null | undefined;
  /**
   * Returns the stored session. It is called when the client is created and again before each refresh, because another
   * tab or process that shares the session may have renewed it.
   */
  loadSession?: (() => ClientSession | null | undefined | Promise<ClientSession | null | undefined>) | undefined;
  /** Stores a session that was started or renewed; deletes it if it is null. The call that caused it awaits it. */
  onSession?: ((session: ClientSession | null, change: SessionChange) => void | Promise<void>) | undefined;
}

/** An access token with less left than this is renewed first. */
const renewalMs = 60_000;

export const isFresh = ({ expiresAt }: ClientSession): boolean =>
  expiresAt === null || expiresAt - renewalMs > Date.now();

/** The session of a sign-in. */
export function sessionOf({ employee, company, ...pair }: SignedInResult): ClientSession {
  return completeSession({
    accessToken: pair.access_token,
    refreshToken: pair.refresh_token,
    expiresAt: Date.now() + pair.expires_in * 1000,
    employee: employee && about(employee),
    company,
  });
}

/** Completes a session from its known parts. */
export function completeSession(given: TokenPair & Partial<ClientSession>): ClientSession {
  return { id: randomKey(), rotation: 0, expiresAt: null, employee: null, company: null, ...given };
}

/** The fields of a person that pages show; others depend on the caller's rights. */
function about({ _id, name, email, isAdmin, isTeamLeader, profilePicture }: Employee): ClientSession['employee'] {
  return { _id, name, email, isAdmin, isTeamLeader, profilePicture };
}
