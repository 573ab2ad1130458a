import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Field } from '../field.tsx';
import { parseDuration, typedDuration } from './wall-time.ts';

type DurationFieldProps = { value: string; onValue(text: string, minutes: number | null): void };

/** How long it was, in any of the ways in which people write that. */
export function DurationField({ value, onValue }: DurationFieldProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // Of the same two times the service says what is wrong with them.
    const isRead = parseDuration(value) !== null || value === typedDuration(0);
    input.current?.setCustomValidity(isRead ? '' : 'Write it as 1:30, 1.5 or 90 min, for less than a day');
  }, [value]);
  return (
    <Field label="Duration" name="entry-duration">
      <input
        id="entry-duration"
        ref={input}
        required
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value, parseDuration(currentTarget.value))}
      />
    </Field>
  );
}
