import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isApiError } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { TextField } from '../field.tsx';
import { write } from '../network.ts';
import { attempt } from '../notices.ts';
import { Problem } from '../parts.tsx';
import { blameNewPassword, newPasswordHint } from '../sign-in/new-password.ts';
import { useForm, type Problems } from '../use-form.ts';
import { sessionsChanged } from './sessions.tsx';

const empty = { current: '', next: '', again: '', endKeys: false };

function blame(error: unknown): Problems {
  if (isApiError(error, 'CURRENT_PASSWORD_WRONG')) return { 'current-password': 'This is not your password.' };
  if (isApiError(error, 'PASSWORD_MISMATCH')) return { 'confirm-password': 'This is not the same as above.' };
  return blameNewPassword(error);
}

/** Changes one's password; who has none yet, or has forgotten it, has a link mailed. */
export function ChangePassword(): JSX.Element {
  const { _id: employee_id, email } = getMe();
  const [values, setValues] = useState(empty);
  // Password managers fill in several fields at once.
  const edit = (patch: Partial<typeof empty>): void => setValues((before) => ({ ...before, ...patch }));
  const [outcome, setOutcome] = useState<string | null>(null);
  const { isSending, problem, problems, onSubmit } = useForm(async () => {
    setOutcome(null);
    await client.passwords.change({
      employee_id,
      current_password: values.current,
      new_password: values.next,
      confirm_password: values.again,
      revoke_api_keys: values.endKeys,
    });
    setValues(empty);
    sessionsChanged.value += 1;
    setOutcome('Your password is changed. You are signed out everywhere else.');
  }, blame);

  async function mailLink(): Promise<void> {
    if (await attempt(() => write(() => client.passwords.requestReset({ email }))))
      setOutcome(`A link to set a password is on its way to ${email}. It works once, and for 30 minutes.`);
  }

  return (
    <section class="card" aria-labelledby="password-heading">
      <h2 id="password-heading" class="card-head">
        Password
      </h2>
      <form class="stack" onSubmit={onSubmit}>
        {/* So that password managers know whose password it is. */}
        <input hidden autocomplete="username" readOnly value={email} />
        <TextField
          label="Current password"
          name="current-password"
          problem={problems['current-password']}
          type="password"
          autocomplete="current-password"
          required
          value={values.current}
          onValue={(current) => edit({ current })}
        />
        <TextField
          label="New password"
          name="new-password"
          hint={newPasswordHint}
          problem={problems['new-password']}
          type="password"
          autocomplete="new-password"
          required
          value={values.next}
          onValue={(next) => edit({ next })}
        />
        <TextField
          label="New password again"
          name="confirm-password"
          problem={problems['confirm-password']}
          type="password"
          autocomplete="new-password"
          required
          value={values.again}
          onValue={(again) => edit({ again })}
        />
        <label class="choice">
          <input
            type="checkbox"
            checked={values.endKeys}
            onChange={(event) => edit({ endKeys: event.currentTarget.checked })}
          />
          <span>
            End my API keys too
            <span>Where somebody else may have the password, they may have made some.</span>
          </span>
        </label>
        <Problem text={problem} />
        <button type="submit" class="button primary" aria-disabled={isSending}>
          {isSending ? 'Changing…' : 'Change the password'}
        </button>
      </form>
      <div role="status">{outcome !== null && <p class="outcome">{outcome}</p>}</div>
      <p class="quiet">
        No password yet, or forgotten?{' '}
        <button type="button" class="link" onClick={() => void mailLink()}>
          Mail me a link to set one
        </button>
      </p>
    </section>
  );
}
