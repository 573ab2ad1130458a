import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon } from '../icon.tsx';
import { createKeys } from '../keys.ts';
import { explain, fail } from '../notices.ts';
import { Avatar } from '../parts.tsx';
import { useIsGone } from '../use-is-gone.ts';
import { activeEmployees, roleOf } from '../workspace.ts';
import { mentionedIn } from './mentions.ts';
import { useMentions } from './use-mentions.ts';

export type Written = { message: string; format: 'text'; mentionedEmails: string[]; idempotencyKey: string };

type ComposerProps = {
  label: string;
  /** On the button. */
  action: string;
  text?: string;
  isFocused?: boolean;
  onSend(written: Written): Promise<void>;
  onCancel?(): void;
};

/** Where a comment is written. What could not be sent stays in it, and is sent once however often it is tried. */
export function Composer({ label, action, text: first = '', isFocused, onSend, onCancel }: ComposerProps): JSX.Element {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(first);
  const { send, isSending, problem } = useSending(onSend, () => setText(''));
  const mentions = useMentions(area, setText);

  useEffect(() => {
    if (isFocused !== true) return;
    area.current?.focus();
    area.current?.setSelectionRange(first.length, first.length);
  }, []);

  function onKeyDown(event: KeyboardEvent): void {
    if (mentions.takeKey(event)) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void send(text);
    } else if (event.key === 'Escape' && onCancel) {
      event.preventDefault();
      onCancel();
    }
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send(text);
      }}
    >
      <label class="visually-hidden" for={id}>
        {label}
      </label>
      <div class="composer-box">
        <textarea
          id={id}
          ref={area}
          rows={2}
          placeholder={label}
          value={text}
          aria-describedby={`${id}-hint`}
          aria-autocomplete="list"
          aria-controls={mentions.people.length > 0 ? `${id}-people` : undefined}
          aria-activedescendant={mentions.people.length > 0 ? `${id}-person-${mentions.index}` : undefined}
          onInput={(event) => {
            setText(event.currentTarget.value);
            mentions.look();
          }}
          onKeyDown={onKeyDown}
          onClick={() => mentions.look()}
          onBlur={() => mentions.close()}
        />
        <MentionPicker id={id} mentions={mentions} />
      </div>
      {problem !== null && (
        <p class="problem-line" role="alert">
          <Icon name="warning" />
          {problem}
        </p>
      )}
      <div class="composer-foot">
        <p class="hint" id={`${id}-hint`}>
          <kbd>@</kbd> mentions somebody, <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends
        </p>
        {onCancel && (
          <button type="button" class="button ghost small" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="button primary small" aria-disabled={isSending || text.trim() === ''}>
          {isSending ? 'Sending…' : action}
        </button>
      </div>
    </form>
  );
}

/** Sends what was written. */
function useSending(onSend: (written: Written) => Promise<void>, onSent: () => void) {
  const [keys] = useState(createKeys);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isGone = useIsGone();

  async function send(text: string): Promise<void> {
    if (text.trim() === '' || isSending) return;
    setSending(true);
    setProblem(null);
    try {
      const mentionedEmails = mentionedIn(text, activeEmployees.value);
      // As plain text, so code and angle brackets are shown as they were typed.
      await onSend({ message: text, format: 'text', mentionedEmails, idempotencyKey: keys.of(text) });
      keys.clear();
      onSent();
    } catch (error) {
      if (isGone()) fail(error);
      else setProblem(explain(error));
    } finally {
      setSending(false);
    }
  }

  return { send, isSending, problem };
}

function MentionPicker({ id, mentions }: { id: string; mentions: ReturnType<typeof useMentions> }): JSX.Element | null {
  if (mentions.people.length === 0) return null;
  return (
    <ul class="mention-picker" id={`${id}-people`} role="listbox" aria-label="People to mention">
      {mentions.people.map((person, index) => (
        <li
          key={person._id}
          id={`${id}-person-${index}`}
          role="option"
          aria-selected={index === mentions.index}
          onMouseDown={(event) => {
            event.preventDefault();
            mentions.choose(person);
          }}
        >
          <Avatar id={person._id} name={person.name} />
          <span class="mention-name">{person.name}</span>
          <span class="mention-role">{roleOf(person)}</span>
        </li>
      ))}
    </ul>
  );
}
