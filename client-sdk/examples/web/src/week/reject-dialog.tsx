import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TimesheetPeriod } from 'work-management-client';
import { Icon } from '../icon.tsx';
import { Field, Problem } from '../parts.tsx';
import { useForm } from '../use-form.ts';
import { titleOf } from './decisions.ts';

type RejectDialogProps = {
  periods: readonly TimesheetPeriod[];
  reject(note: string): Promise<void>;
  onClose(): void;
};

/** Asks for the note that the employees are told. */
export function RejectDialog({ periods, reject, onClose }: RejectDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [note, setNote] = useState('');
  const { isSending, problem, onSubmit } = useForm(async () => reject(note));
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector('textarea')?.focus();
  }, []);

  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="reject-heading" onClose={onClose}>
      <form class="stack" onSubmit={onSubmit}>
        <header>
          <h2 id="reject-heading">{periods.length === 1 ? 'Reject' : `Reject ${periods.length} periods`}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        <ul class="quiet">
          {periods.map((period) => (
            <li key={period._id}>{titleOf(period)}</li>
          ))}
        </ul>
        <Field
          label="What is to be corrected"
          name="reject-note"
          hint="The employee reads it, corrects the time and submits it again."
        >
          <textarea
            id="reject-note"
            aria-describedby="reject-note-hint"
            required
            rows={3}
            maxLength={1000}
            value={note}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
        </Field>
        <Problem text={problem} />
        <button type="submit" class="button danger wide" aria-disabled={isSending}>
          {isSending ? 'Sending…' : 'Reject'}
        </button>
      </form>
    </dialog>
  );
}
