import type { ComponentChildren, JSX } from 'preact';
import { Mark, ThemeButton } from '../shell/header.tsx';

/** What stands round every form of somebody who is not signed in. */
export function Frame({ heading, children }: { heading: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="sign-in-page">
      <header class="sign-in-top">
        <ThemeButton />
      </header>
      <main class="sign-in card">
        <div class="sign-in-brand">
          <Mark />
          <p>Work Management</p>
        </div>
        <h1>{heading}</h1>
        {children}
      </main>
    </div>
  );
}
