import type { ClientSession, SessionChange } from './client-session.ts';

/** The required part of `localStorage` and `sessionStorage`. */
export interface KeyValueStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** The two functions with which a client stores its session. */
export interface KeptSession {
  loadSession(): ClientSession | null;
  onSession(session: ClientSession | null, change: SessionChange): void;
}

/**
 * Keeps the session in a browser's storage, where all tabs share it: what one tab renews the others use, and where two
 * renew it at the same moment, the service answers both the same successor (for 10 seconds).
 *
 * @example
 * const client = createClient({ baseUrl, ...keepSessionIn(localStorage) });
 */
export function keepSessionIn(storage: KeyValueStorage, key = 'work-management-session'): KeptSession {
  let ownId: string | undefined;

  function load(): ClientSession | null {
    try {
      const kept = JSON.parse(storage.getItem(key) ?? 'null') as ClientSession | null;
      return isComplete(kept) ? kept : null;
    } catch {
      return null;
    }
  }

  return {
    loadSession() {
      const kept = load();
      ownId ??= kept?.id;
      return kept;
    },
    onSession(session, change) {
      const kept = load();
      // Another tab has signed in as somebody else, or has already renewed the session: its session stays.
      const isTheirs = kept !== null && (kept.id !== ownId || kept.rotation > (session?.rotation ?? Infinity));
      if (isTheirs && change !== 'signed in') return;
      ownId = session?.id;
      if (session) storage.setItem(key, JSON.stringify(session));
      else storage.removeItem(key);
    },
  };
}

/** Others may write to the storage too: an invalid or incomplete session counts as none. */
const isComplete = (kept: ClientSession | null): boolean =>
  [kept?.id, kept?.accessToken, kept?.refreshToken].every((part) => typeof part === 'string');
