import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { client, me } from '../client.ts';
import { Problem } from '../parts.tsx';
import { useForm } from '../use-form.ts';
import { useTitle } from '../use-title.ts';
import { Frame } from './frame.tsx';
import { EmailField } from './password-form.tsx';

/** Asks for a link that sets a new password. */
export function ForgottenPassword(): JSX.Element {
  useTitle('Forgotten password');
  const [email, setEmail] = useState(me.value?.email ?? '');
  const [sentTo, setSentTo] = useState<string | null>(null);
  const { isSending, problem, onSubmit } = useForm(async () => {
    await client.passwords.requestReset({ email });
    setSentTo(email);
  });
  return (
    <Frame heading="Forgotten password">
      <div role="status">
        {sentTo === null ? (
          <p>Give the address with which you sign in. A link to set a new password is mailed to it.</p>
        ) : (
          <p class="outcome">
            If {sentTo} is known here, a link is on its way to it. It works once, and for 30 minutes.
          </p>
        )}
      </div>
      <form class="stack" onSubmit={onSubmit}>
        <EmailField email={email} onEmail={setEmail} />
        <Problem text={problem} />
        <button type="submit" class={`button wide ${sentTo === email ? '' : 'primary'}`} aria-disabled={isSending}>
          {isSending ? 'Sending…' : sentTo === email ? 'Send another link' : 'Send me a link'}
        </button>
        <a class="button ghost wide" href="#/tasks">
          {me.value ? 'Back' : 'Back to the sign-in'}
        </a>
      </form>
    </Frame>
  );
}
