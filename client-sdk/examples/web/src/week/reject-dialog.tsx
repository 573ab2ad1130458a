import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { TimesheetPeriod } from 'work-management-client';
import { FormDialog } from '../dialog.tsx';
import { described, Field } from '../field.tsx';
import { titleOf } from './decisions.ts';

type RejectDialogProps = {
  periods: readonly TimesheetPeriod[];
  reject(note: string): Promise<void>;
  onClose(): void;
};

/** Asks for the note that the employees are told. */
export function RejectDialog({ periods, reject, onClose }: RejectDialogProps): JSX.Element {
  const [note, setNote] = useState('');
  const field = { name: 'reject-note', hint: 'The employee reads it, corrects the time and submits it again.' };
  return (
    <FormDialog
      heading={periods.length === 1 ? 'Reject' : `Reject ${periods.length} periods`}
      action="Reject"
      sending="Sending…"
      isDanger
      send={async () => reject(note)}
      onClose={onClose}
    >
      {() => (
        <>
          <ul class="quiet">
            {periods.map((period) => (
              <li key={period._id}>{titleOf(period)}</li>
            ))}
          </ul>
          <Field label="What is to be corrected" {...field}>
            <textarea
              id={field.name}
              {...described(field)}
              required
              rows={3}
              maxLength={1000}
              value={note}
              onInput={(event) => setNote(event.currentTarget.value)}
            />
          </Field>
        </>
      )}
    </FormDialog>
  );
}
