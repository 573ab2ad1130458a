import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isCompanyChoice, type CompanyChoice, type SignedInResult } from 'work-management-client';
import { client, farewell, session } from '../client.ts';
import { Icon } from '../icon.tsx';
import { attempt } from '../notices.ts';
import { route } from '../route.ts';
import { useTitle } from '../use-title.ts';
import { CodeForm } from './code-form.tsx';
import { CompanyForm } from './company-form.tsx';
import { Frame } from './frame.tsx';
import { Invitations } from './invitations.tsx';
import { PasswordForm } from './password-form.tsx';

/** Where a sign-in goes on: the answer of the service, for the address that signs in. */
export type OnSignedIn = (answer: SignedInResult | CompanyChoice, email: string) => void;

export function SignIn(): JSX.Element {
  useTitle('Sign in');
  const [way, setWay] = useState<'password' | 'code'>('password');
  const [email, setEmail] = useState('');
  const [choice, setChoice] = useState<CompanyChoice | null>(null);
  // The session is taken over by the client; only a choice of companies asks for more.
  const onSignedIn: OnSignedIn = (answer, address) => {
    setEmail(address);
    if (isCompanyChoice(answer)) setChoice(answer);
  };

  return (
    <Frame heading={choice ? 'Choose a company' : session.value ? 'Your invitations' : 'Sign in'}>
      {farewell.value !== null && (
        <p class="farewell" role="status">
          {farewell.value}
        </p>
      )}
      {route.value.view === 'invitation' && !session.value && (
        <p class="farewell">Sign in with the address that was invited. If you are new here, ask for a mailed code.</p>
      )}
      {session.value ? (
        <NoCompany />
      ) : choice ? (
        <CompanyForm choice={choice} email={email} onBack={() => setChoice(null)} />
      ) : (
        <>
          <div class="ways" role="group" aria-label="How to sign in">
            <button type="button" aria-pressed={way === 'password'} onClick={() => setWay('password')}>
              Password
            </button>
            <button type="button" aria-pressed={way === 'code'} onClick={() => setWay('code')}>
              Mailed code
            </button>
          </div>
          {way === 'password' ? (
            <>
              <PasswordForm email={email} onEmail={setEmail} onSignedIn={onSignedIn} />
              <a class="button ghost wide" href="#/forgotten-password">
                Forgotten your password?
              </a>
            </>
          ) : (
            <CodeForm email={email} onEmail={setEmail} onSignedIn={onSignedIn} />
          )}
          <p class="hint sign-in-hint">
            {way === 'password'
              ? 'The sign-in of the demo company is printed where the service was started.'
              : 'Without a mail provider, mails are written to mail.jsonl in the data folder of the service.'}
          </p>
        </>
      )}
    </Frame>
  );
}

function NoCompany(): JSX.Element {
  return (
    <>
      <Invitations none="This address belongs to no company yet. Ask an admin of yours to add you, then sign in again." />
      <button type="button" class="button wide" onClick={() => void attempt(() => client.auth.logout())}>
        <Icon name="out" />
        Sign out
      </button>
    </>
  );
}
