import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { client } from '../client.ts';
import { Field } from '../field.tsx';
import { Problem } from '../parts.tsx';
import { EmailField } from './password-form.tsx';
import type { OnSignedIn } from './sign-in.tsx';
import { useForm } from '../use-form.ts';

type FormProps = { email: string; onEmail(email: string): void; onSignedIn: OnSignedIn };

/** Two steps: the address, then the code that was mailed to it. */
export function CodeForm({ email, onEmail, onSignedIn }: FormProps): JSX.Element {
  const [isSent, setSent] = useState(false);
  const { isSending, problem, onSubmit } = useForm(async () => {
    await client.auth.verifyEmail({ email });
    setSent(true);
  });
  if (isSent) return <CodeStep email={email} onSignedIn={onSignedIn} onBack={() => setSent(false)} />;
  return (
    <form class="stack" onSubmit={onSubmit}>
      <EmailField email={email} onEmail={onEmail} />
      <Problem text={problem} />
      <button type="submit" class="button primary wide" aria-disabled={isSending}>
        {isSending ? 'Sending…' : 'Send me a code'}
      </button>
    </form>
  );
}

function CodeStep({
  email,
  onSignedIn,
  onBack,
}: {
  email: string;
  onSignedIn: OnSignedIn;
  onBack(): void;
}): JSX.Element {
  const [otp, setOtp] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const { isSending, problem, onSubmit } = useForm(async () =>
    onSignedIn(await client.auth.otpLogin({ email, otp }), email),
  );
  useEffect(() => input.current?.focus(), []);
  return (
    <form class="stack" onSubmit={onSubmit}>
      <Field label="Code" name="code" hint={`If ${email} is known here, six digits are on their way to it.`}>
        <input
          id="code"
          ref={input}
          class="code"
          inputMode="numeric"
          autocomplete="one-time-code"
          pattern="[0-9]{6}"
          title="Six digits"
          required
          aria-describedby="code-hint"
          value={otp}
          onInput={({ currentTarget }) => {
            // Mails and people put spaces in it. The field shows what is sent, also where that stays the same.
            currentTarget.value = currentTarget.value.replaceAll(/\D/g, '').slice(0, 6);
            setOtp(currentTarget.value);
          }}
        />
      </Field>
      <Problem text={problem} />
      <button type="submit" class="button primary wide" aria-disabled={isSending}>
        {isSending ? 'Signing in…' : 'Sign in'}
      </button>
      <button type="button" class="button ghost wide" onClick={onBack}>
        Use another address, or send a new code
      </button>
    </form>
  );
}
