import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { client } from '../client.ts';
import { Field } from '../field.tsx';
import { Problem } from '../parts.tsx';
import type { OnSignedIn } from './sign-in.tsx';
import { useForm } from '../use-form.ts';

type FormProps = { email: string; onEmail(email: string): void; onSignedIn: OnSignedIn };

export function EmailField({ email, onEmail }: Pick<FormProps, 'email' | 'onEmail'>): JSX.Element {
  return (
    <Field label="E-mail address" name="email">
      <input
        id="email"
        type="email"
        autocomplete="username"
        required
        value={email}
        onInput={(event) => onEmail(event.currentTarget.value)}
      />
    </Field>
  );
}

export function PasswordForm({ email, onEmail, onSignedIn }: FormProps): JSX.Element {
  const [password, setPassword] = useState('');
  const { isSending, problem, onSubmit } = useForm(async () =>
    onSignedIn(await client.auth.login({ email, password }), email),
  );
  return (
    <form class="stack" onSubmit={onSubmit}>
      <EmailField email={email} onEmail={onEmail} />
      <Field label="Password" name="password">
        <input
          id="password"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
      </Field>
      <Problem text={problem} />
      <button type="submit" class="button primary wide" aria-disabled={isSending}>
        {isSending ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}
