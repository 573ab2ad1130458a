import type { JSX } from 'preact';
import { getMe } from '../client.ts';
import { personHref } from '../route.ts';
import { Invitations } from '../sign-in/invitations.tsx';
import { useTitle } from '../use-title.ts';
import { ChangePassword } from './change-password.tsx';
import { Sessions } from './sessions.tsx';
import { SettingsHead } from './settings-head.tsx';

/** How one signs in, and where one is signed in. */
export function Account(): JSX.Element {
  useTitle('Account');
  const { _id, email } = getMe();
  return (
    <>
      <SettingsHead heading="Account" />
      <div class="settings">
        <div class="stack">
          <Sessions />
          <section class="card stack" aria-labelledby="invitations-heading">
            <h2 id="invitations-heading">Invitations</h2>
            <Invitations none="No other company has invited you." />
          </section>
        </div>
        <div class="stack">
          <ChangePassword />
          <p class="quiet">
            You sign in with {email}. Your name and your phone are on <a href={personHref(_id)}>your page</a>.
          </p>
        </div>
      </div>
    </>
  );
}
