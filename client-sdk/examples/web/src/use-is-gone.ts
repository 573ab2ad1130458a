import { useEffect, useRef } from 'preact/hooks';

/** Whether a component was left: what fails from then on is said elsewhere. */
export function useIsGone(): () => boolean {
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  return () => isGone.current;
}
