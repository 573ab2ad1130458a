import { completeSession, isFresh, sessionOf, type ClientSession, type SessionOptions } from './client-session.ts';
import type { AuthRefreshAnswer, SignedInResult } from './contract.ts';
import { isApiError, type ApiError } from './api-error.ts';
import { createSessionState, type SessionState } from './session-state.ts';
import { unlessAborted } from './waiting.ts';

/** The session of a client: only this code starts, renews and ends it. */
export type Sessions = Pick<SessionState, 'current' | 'load' | 'watch'> & {
  /** Resolves with a session whose access token is valid for a while. */
  usable(signal: AbortSignal): Promise<ClientSession | null>;
  /** After an authentication error: resolves with whether the session has other tokens. */
  recover(error: ApiError, used: ClientSession, signal: AbortSignal): Promise<boolean>;
  /** Uses an access token that came with an answer. */
  takeAccessToken(accessToken: string, used: ClientSession): Promise<void>;
  /** Uses the pair that was answered for a refresh token, if that is the current one. */
  takeRefreshed(sent: string, pair: AuthRefreshAnswer): Promise<void>;
  begin(answer: SignedInResult): Promise<void>;
  set(session: SessionOptions['session']): Promise<void>;
  signOut(session: ClientSession): Promise<void>;
};

export type RequestPair = (refreshToken: string) => Promise<AuthRefreshAnswer>;

/** The assumed lifetime of access tokens, until an answer tells it. */
const usualLifetimeMs = 15 * 60_000;

/** The errors for which fresh tokens may help. */
const aboutTokens = ['INVALID_TOKEN', 'TOKEN_PAIR_REQUIRED', 'SESSION_ENDED'] as const;

export function createSessions(options: SessionOptions, requestPair: RequestPair): Sessions {
  const state = createSessionState(options);
  const { current, load, change, watch } = state;
  let lifetimeMs = usualLifetimeMs;

  const expiry = (): number => Date.now() + lifetimeMs;

  async function take({ access_token, refresh_token, expires_in }: AuthRefreshAnswer): Promise<void> {
    lifetimeMs = expires_in * 1000;
    const tokens = { accessToken: access_token, refreshToken: refresh_token, expiresAt: expiry() };
    await change({ ...current()!, ...tokens, rotation: current()!.rotation + 1 }, 'refreshed');
  }

  const refresh = createRefresh(state, requestPair, take);

  return {
    current,
    load,
    watch,
    async usable(signal) {
      await unlessAborted(load(), signal);
      const session = current();
      if (session && !isFresh(session)) await unlessAborted(refresh(), signal);
      return current();
    },
    async recover(error, used, signal) {
      if (!isApiError(error, ...aboutTokens) || current()?.id !== used.id) return false;
      if (error.code === 'SESSION_ENDED') {
        await change(null, 'ended');
        return false;
      }
      if (current()!.accessToken === used.accessToken) await unlessAborted(refresh(), signal);
      return current()?.id === used.id;
    },
    async takeAccessToken(accessToken, used) {
      const session = current();
      if (session?.id !== used.id || session.accessToken !== used.accessToken) return;
      await change({ ...session, accessToken, expiresAt: expiry() }, 'refreshed');
    },
    async takeRefreshed(sent, pair) {
      if (current()?.refreshToken === sent) await take(pair);
    },
    async begin(answer) {
      lifetimeMs = answer.expires_in * 1000;
      await change(sessionOf(answer), 'signed in');
    },
    async set(session) {
      if (session) await change(completeSession(session), 'signed in');
      else if (current()) await change(null, 'signed out');
    },
    async signOut({ id }) {
      if (current()?.id === id) await change(null, 'signed out');
    },
  };
}

/** Renews the tokens of the current session: once at a time for all callers. */
function createRefresh(
  { current, change, takeNewer }: SessionState,
  requestPair: RequestPair,
  take: (pair: AuthRefreshAnswer) => Promise<void>,
): () => Promise<void> {
  let refreshing: Promise<void> | undefined;

  async function renew(): Promise<void> {
    const known = current();
    if (known && (await takeNewer(known)) && isFresh(current()!)) return;
    const old = current();
    if (!old) return;
    const { id, refreshToken } = old;
    try {
      const pair = await requestPair(refreshToken);
      if (current()?.id === id) await take(pair);
    } catch (error) {
      if (!isApiError(error, ...aboutTokens)) throw error;
      // Another tab was faster and stored the new tokens.
      if (await takeNewer(old)) return;
      if (current()?.id === id) await change(null, 'ended');
      throw error;
    }
  }

  return async () => {
    refreshing ??= renew().finally(() => (refreshing = undefined));
    await refreshing;
  };
}
