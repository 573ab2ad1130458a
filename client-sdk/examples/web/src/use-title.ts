import { useEffect } from 'preact/hooks';

/** What the window is called. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Work Management`;
  }, [title]);
}
