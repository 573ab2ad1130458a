import { useEffect, useState } from 'preact/hooks';
import { isApiError, type ApiError } from 'work-management-client';
import { comebacks } from './network.ts';
import { explain } from './notices.ts';

export type Loaded<Value> = {
  /** What was read last; it stays while it is read again. */
  value: Value | undefined;
  /** Why there is nothing newer. */
  problem: string | null;
  error: ApiError | null;
  reload(): void;
};

/**
 * Reads something for a component: again when one of `keys` changes, when the window is looked at again, and when the
 * service was away.
 */
export function useLoad<Value>(read: (signal: AbortSignal) => Promise<Value>, keys: readonly unknown[]): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; error?: unknown; of: string }>({ of: '' });
  const [turn, setTurn] = useState(0);
  const name = JSON.stringify(keys);
  const reload = (): void => setTurn((before) => before + 1);

  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    void (async () => {
      try {
        const value = await read(signal);
        if (!signal.aborted) setState({ value, of: name });
      } catch (error) {
        if (!signal.aborted) setState((before) => ({ ...before, error }));
      }
    })();
    return () => leaving.abort();
  }, [name, turn, comebacks.value]);

  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === 'visible') reload();
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);

  const { value, error } = state;
  return {
    value,
    problem: error === undefined ? null : explain(error),
    error: isApiError(error) ? error : null,
    reload,
  };
}
