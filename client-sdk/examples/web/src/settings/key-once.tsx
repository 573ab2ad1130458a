import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NewApiKey } from 'work-management-client';
import { Icon } from '../icon.tsx';
import { announce } from '../notices.ts';

/** A new key, which nobody can show again. */
export function KeyOnce({ made, onDone }: { made: NewApiKey; onDone(): void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => field.current?.focus(), []);

  async function copy(): Promise<void> {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(made.key);
      setCopied(true);
      announce('Copied');
    } catch {
      // The browser does not allow it, or not over HTTP: it is selected, ready for the keyboard.
      announce('The key is selected: copy it with the keyboard.');
    }
  }

  return (
    <section class="card stack key-once" aria-labelledby="key-once-heading">
      <h2 id="key-once-heading">{made.name} is made</h2>
      <p>Copy the key now and keep it like a password: it is never shown again.</p>
      <div class="key-once-line">
        <input
          ref={field}
          aria-label="The key"
          class="key"
          readOnly
          value={made.key}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="button primary" onClick={() => void copy()}>
          <Icon name={isCopied ? 'done' : 'copy'} />
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      </div>
      <button type="button" class="button" onClick={onDone}>
        I have kept it
      </button>
    </section>
  );
}
