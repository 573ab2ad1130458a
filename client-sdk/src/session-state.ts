import { completeSession, type ClientSession, type SessionChange, type SessionOptions } from './client-session.ts';

/** The current session, loaded from the store and stored at each change. */
export type SessionState = {
  current(): ClientSession | null;
  /** Resolves with the session when it is loaded. */
  load(): Promise<ClientSession | null>;
  /** Replaces the current session by another one or none; resolves when it is stored. */
  change(next: ClientSession | null, why: SessionChange): Promise<void>;
  /** Uses a newer stored copy of the current session; returns whether there was one. */
  takeNewer(session: ClientSession): Promise<boolean>;
  /** Calls back when another session, or none, replaces this one. */
  watch(callback: () => void): () => void;
};

export function createSessionState({ session, loadSession, onSession }: SessionOptions): SessionState {
  let current: ClientSession | null = session ? completeSession(session) : null;
  let isLoaded = true;
  let loading: Promise<void> | undefined;
  let told: Promise<void> = Promise.resolve();
  const watchers = new Set<() => void>();

  async function takeLoaded(kept: ReturnType<NonNullable<typeof loadSession>>): Promise<void> {
    try {
      const found = await kept;
      // What was begun or ended in the meantime stays.
      if (!isLoaded) current = found ?? null;
      isLoaded = true;
    } finally {
      loading = undefined;
    }
  }

  if (!session) {
    const kept = loadSession?.();
    // Also a promise of a library, or of another realm.
    if (kept && 'then' in kept) {
      isLoaded = false;
      loading = takeLoaded(kept);
      // The caller waits for it, and gets its error.
      loading.catch(() => {});
    } else current = kept ?? null;
  }

  return {
    current: () => current,
    async load() {
      if (!isLoaded) await (loading ??= takeLoaded(loadSession?.()));
      return current;
    },
    change(changed, why) {
      const isAnother = changed?.id !== current?.id;
      current = changed;
      isLoaded = true;
      if (isAnother) for (const watch of watchers) watch();
      // One after another, so that the latest is stored last.
      const telling = told.then(async () => onSession?.(changed, why));
      told = telling.catch(() => {});
      return telling;
    },
    async takeNewer({ id, rotation }) {
      const kept = await loadSession?.();
      // A stored copy without a rotation is not newer, or it would be taken again after each refusal.
      if (kept?.id !== id || !(kept.rotation > rotation) || current?.id !== id) return false;
      current = kept;
      return true;
    },
    watch(callback) {
      watchers.add(callback);
      return () => void watchers.delete(callback);
    },
  };
}
