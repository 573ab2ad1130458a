import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** Shows a line in the place of what cannot be shown, so that all around it stays; a new value of `of` is tried again. */
export function Contained({
  what,
  of,
  children,
}: {
  what: string;
  of: unknown;
  children: ComponentChildren;
}): JSX.Element {
  // An error that nobody sees would never be mended: the console has it.
  const [error, retry] = useErrorBoundary((caught) => reportError(caught));
  useEffect(() => {
    if (error !== undefined) retry();
  }, [of]);
  if (error === undefined) return <>{children}</>;
  return (
    <p class="problem-line" role="note">
      <Icon name="warning" />
      {what} cannot be shown here.
    </p>
  );
}
