/** How long a slow statement is kept off: anything may be slow once, so longer each time. */
const openMs = { first: 5_000, times: 4, longest: 60_000 };

export type CircuitBreaker = {
  /** Opens for a statement that was slow, by its name. */
  onSlowQuery(name: string): void;
  /** Whether the statement is to be kept off at present. */
  isOpen(name: string | undefined): boolean;
};

/** Remembers which statements have been slow of late. */
export function createCircuitBreaker(): CircuitBreaker {
  const open = new Map<string, { untilMs: number; forMs: number }>();
  return {
    onSlowQuery(name) {
      const now = performance.now();
      const last = open.get(name);
      // Several connections may be told of the same runs of it.
      if (last && last.untilMs > now) return;
      const isRecent = last !== undefined && now - last.untilMs < openMs.longest;
      const forMs = isRecent ? Math.min(last.forMs * openMs.times, openMs.longest) : openMs.first;
      open.set(name, { untilMs: now + forMs, forMs });
    },
    isOpen: (name) => name !== undefined && open.size > 0 && (open.get(name)?.untilMs ?? 0) > performance.now(),
  };
}
