import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isApiError } from 'work-management-client';
import { client, farewell } from '../client.ts';
import { TextField } from '../field.tsx';
import { Problem } from '../parts.tsx';
import { useForm } from '../use-form.ts';
import { useTitle } from '../use-title.ts';
import { Frame } from './frame.tsx';
import { blameNewPassword, newPasswordHint } from './new-password.ts';

/** Where the link of a reset mail leads: its token stands behind the `#`, which browsers send to nobody. */
export function ResetPassword({ token }: { token: string }): JSX.Element {
  useTitle('New password');
  const [password, setPassword] = useState('');
  const [isOver, setOver] = useState(token === '');
  const { isSending, problem, problems, onSubmit } = useForm(async () => {
    try {
      await client.passwords.reset({ token, new_password: password, confirm_password: password });
    } catch (error) {
      setOver(isApiError(error, 'INVALID_RESET_TOKEN'));
      throw error;
    }
    farewell.value = 'Your password is changed. Sign in with the new one.';
    location.replace('#/tasks');
  }, blameNewPassword);
  return (
    <Frame heading="Set a new password">
      {isOver ? (
        <>
          <Problem text="This link is not complete, was used, or is older than 30 minutes." />
          <a class="button primary wide" href="#/forgotten-password">
            Ask for a new link
          </a>
        </>
      ) : (
        <form class="stack" onSubmit={onSubmit}>
          <TextField
            label="New password"
            name="new-password"
            hint={newPasswordHint}
            problem={problems['new-password']}
            type="password"
            autocomplete="new-password"
            minLength={8}
            required
            value={password}
            onValue={setPassword}
          />
          <Problem text={problem} />
          <button type="submit" class="button primary wide" aria-disabled={isSending}>
            {isSending ? 'Changing…' : 'Change the password'}
          </button>
        </form>
      )}
      <a class="button ghost wide" href="#/tasks">
        Back to the sign-in
      </a>
    </Frame>
  );
}
