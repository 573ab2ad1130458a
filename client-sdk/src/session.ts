import type { AuthRefreshAnswer, Employee, SignedInResult } from './contract.ts';
import { isFault, type Fault } from './fault.ts';
import { randomKey } from './random-key.ts';
import { unlessAborted } from './waiting.ts';

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
   * another tab or process that shares it may have renewed it meanwhile.
   */
  loadSession?: (() => ClientSession | null | undefined | Promise<ClientSession | null | undefined>) | undefined;
  /** Keeps a session that has begun or was renewed; forgets it where it is null. Awaited by the call that caused it. */
  onSession?: ((session: ClientSession | null, change: SessionChange) => void | Promise<void>) | undefined;
}

/** The session of a client: begun, renewed and ended here and nowhere else. */
export type Sessions = {
  current(): ClientSession | null;
  /** Answers the session when it has been loaded. */
  load(): Promise<ClientSession | null>;
  /** Answers a session whose access token is good for a while. */
  usable(signal: AbortSignal): Promise<ClientSession | null>;
  /** After a refusal of a session's tokens: answers whether there are others to try with. */
  recover(fault: Fault, used: ClientSession, signal: AbortSignal): Promise<boolean>;
  /** Takes over an access token that came with an answer. */
  takeAccessToken(accessToken: string, used: ClientSession): Promise<void>;
  /** Takes over the pair that was answered for a refresh token, where that is the present one. */
  takeRefreshed(sent: string, pair: AuthRefreshAnswer): Promise<void>;
  begin(answer: SignedInResult): Promise<void>;
  set(session: SessionOptions['session']): Promise<void>;
  signOut(session: ClientSession): Promise<void>;
  /** Calls back when another session, or none, takes the place of this one. */
  watch(callback: () => void): () => void;
};

/** An access token with less left than this is renewed first. */
const renewalMs = 60_000;
/** How long access tokens last, until an answer says so. */
const usualLifetimeMs = 15 * 60_000;

/** The faults that fresh tokens may help against. */
const aboutTokens = ['INVALID_TOKEN', 'TOKEN_PAIR_REQUIRED', 'SESSION_ENDED'] as const;

export function createSessions(
  { session, loadSession, onSession }: SessionOptions,
  requestPair: (refreshToken: string, idempotencyKey: string) => Promise<AuthRefreshAnswer>,
): Sessions {
  let current: ClientSession | null = null;
  let isLoaded = true;
  let loading: Promise<void> | undefined;
  let refreshing: Promise<void> | undefined;
  let lifetimeMs = usualLifetimeMs;
  /** The same for all tries to renew one token: where an answer is lost, the next try gets it. */
  let refreshKey = { refreshToken: '', key: '' };
  let told: Promise<void> = Promise.resolve();
  const watchers = new Set<() => void>();

  if (session) current = complete(session);
  else {
    const kept = loadSession?.();
    if (kept instanceof Promise) {
      isLoaded = false;
      loading = takeLoaded(kept);
      // Whoever calls waits for it, and hears of it where it fails.
      loading.catch(() => {});
    } else current = kept ?? null;
  }

  async function takeLoaded(kept: ReturnType<NonNullable<typeof loadSession>>): Promise<void> {
    try {
      const found = await kept;
      // Whoever has signed in meanwhile stays.
      current ??= found ?? null;
      isLoaded = true;
    } finally {
      loading = undefined;
    }
  }

  async function load(): Promise<ClientSession | null> {
    if (!isLoaded) await (loading ??= takeLoaded(loadSession?.()));
    return current;
  }

  function change(next: ClientSession | null, why: SessionChange): Promise<void> {
    const isAnother = next?.id !== current?.id;
    current = next;
    if (isAnother) for (const watch of watchers) watch();
    // One after the other, so that what is kept last is the latest.
    const telling = tell(told, next, why);
    told = telling.catch(() => {});
    return telling;
  }

  async function tell(before: Promise<void>, ...news: Parameters<NonNullable<typeof onSession>>): Promise<void> {
    await before;
    await onSession?.(...news);
  }

  async function takeNewer({ id, rotation }: ClientSession): Promise<boolean> {
    const kept = await loadSession?.();
    if (kept?.id !== id || kept.rotation <= rotation || current?.id !== id) return false;
    current = kept;
    return true;
  }

  async function end(session: ClientSession): Promise<void> {
    if (current?.id === session.id) await change(null, 'ended');
  }

  async function renew(): Promise<void> {
    let old = current;
    if (!old) return;
    if ((await takeNewer(old)) && isFresh(current!)) return;
    old = current;
    if (!old) return;
    const { refreshToken } = old;
    if (refreshKey.refreshToken !== refreshToken) refreshKey = { refreshToken, key: randomKey() };
    try {
      const pair = await requestPair(refreshToken, refreshKey.key);
      if (current?.id === old.id) await take(pair);
    } catch (error) {
      if (!isFault(error, ...aboutTokens)) throw error;
      // Another tab that was faster has left its successor.
      if (await takeNewer(old)) return;
      await end(old);
      throw error;
    }
  }

  function take({ access_token: accessToken, refresh_token: refreshToken, expires_in }: AuthRefreshAnswer) {
    lifetimeMs = expires_in * 1000;
    const { rotation } = current!;
    const next = { ...current!, accessToken, refreshToken, rotation: rotation + 1, expiresAt: Date.now() + lifetimeMs };
    return change(next, 'refreshed');
  }

  async function refresh(): Promise<void> {
    refreshing ??= renew().finally(() => (refreshing = undefined));
    await refreshing;
  }

  return {
    current: () => current,
    load,
    async usable(signal) {
      if (!isLoaded) await unlessAborted(load(), signal);
      if (current && !isFresh(current)) await unlessAborted(refresh(), signal);
      return current;
    },
    async recover(fault, used, signal) {
      if (!isFault(fault, ...aboutTokens) || current?.id !== used.id) return false;
      if (fault.code === 'SESSION_ENDED') {
        await end(used);
        return false;
      }
      if (current.accessToken === used.accessToken) await unlessAborted(refresh(), signal);
      return current !== null;
    },
    async takeAccessToken(accessToken, used) {
      if (current?.id !== used.id || current.accessToken !== used.accessToken) return;
      await change({ ...current, accessToken, expiresAt: Date.now() + lifetimeMs }, 'refreshed');
    },
    async begin({ employee, company, ...pair }) {
      lifetimeMs = pair.expires_in * 1000;
      const next = {
        id: randomKey(),
        accessToken: pair.access_token,
        refreshToken: pair.refresh_token,
        rotation: 0,
        expiresAt: Date.now() + lifetimeMs,
        employee: employee && about(employee),
        company,
      };
      await change(next, 'signed in');
    },
    async takeRefreshed(sent, pair) {
      if (current?.refreshToken === sent) await take(pair);
    },
    async set(session) {
      if (session) await change(complete(session), 'signed in');
      else if (current) await change(null, 'signed out');
    },
    async signOut(session) {
      if (current?.id === session.id) await change(null, 'signed out');
    },
    watch(callback) {
      watchers.add(callback);
      return () => void watchers.delete(callback);
    },
  };
}

const isFresh = ({ expiresAt }: ClientSession): boolean => expiresAt === null || expiresAt - renewalMs > Date.now();

function about({ _id, name, email, isAdmin, isTeamLeader, profilePicture }: Employee): ClientSession['employee'] {
  return { _id, name, email, isAdmin, isTeamLeader, profilePicture };
}

function complete(given: TokenPair & Partial<ClientSession>): ClientSession {
  return { id: randomKey(), rotation: 0, expiresAt: null, employee: null, company: null, ...given };
}
