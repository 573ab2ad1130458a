import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { client, farewell } from '../client.ts';
import { Field, Problem } from '../parts.tsx';
import { useForm } from '../use-form.ts';
import { useTitle } from '../use-title.ts';
import { Frame } from './frame.tsx';

/** Where the link of a reset mail leads: its token stands behind the `#`, which browsers send to nobody. */
export function ResetPassword({ token }: { token: string }): JSX.Element {
  useTitle('New password');
  const [password, setPassword] = useState('');
  const { isSending, problem, onSubmit } = useForm(async () => {
    await client.passwords.reset({ token, new_password: password, confirm_password: password });
    farewell.value = 'Your password is changed. Sign in with the new one.';
    location.replace('#/tasks');
  });
  return (
    <Frame heading="Set a new password">
      <form class="stack" onSubmit={onSubmit}>
        <Field
          label="New password"
          name="new-password"
          hint="At least eight characters, and none that everybody takes."
        >
          <input
            id="new-password"
            type="password"
            autocomplete="new-password"
            minLength={8}
            required
            aria-describedby="new-password-hint"
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </Field>
        <Problem text={problem} />
        <button type="submit" class="button primary wide" aria-disabled={isSending}>
          {isSending ? 'Changing…' : 'Change the password'}
        </button>
        <a class="button ghost wide" href="#/tasks">
          Back to the sign-in
        </a>
      </form>
    </Frame>
  );
}
