/**
 * How long the breaker stays open for a slow statement. Any statement may be slow once, so the time grows with each
 * repetition.
 */
const openMs = { first: 5_000, times: 4, longest: 60_000 };

export type CircuitBreaker = {
  /** Opens the breaker for a slow statement, by its name. */
  onSlowQuery(name: string): void;
  /** Whether the breaker is open for the statement. */
  isOpen(name: string | undefined): boolean;
};

/** Remembers the statements that were slow lately. */
export function createCircuitBreaker(): CircuitBreaker {
  const open = new Map<string, { untilMs: number; forMs: number }>();
  return {
    onSlowQuery(name) {
      const now = performance.now();
      const last = open.get(name);
      // Several connections may report the same slow run.
      if (last && last.untilMs > now) return;
      const isRecent = last !== undefined && now - last.untilMs < openMs.longest;
      const forMs = isRecent ? Math.min(last.forMs * openMs.times, openMs.longest) : openMs.first;
      open.set(name, { untilMs: now + forMs, forMs });
    },
    isOpen: (name) => name !== undefined && open.size > 0 && (open.get(name)?.untilMs ?? 0) > performance.now(),
  };
}
