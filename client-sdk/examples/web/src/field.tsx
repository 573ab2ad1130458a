import type { ComponentChildren, JSX } from 'preact';
import { Icon } from './icon.tsx';

type About = {
  label: string;
  /** The `id` of what is filled in. */
  name: string;
  hint?: string | undefined;
  /** Why it was refused. */
  problem?: ComponentChildren;
};

/** What is said of a field besides its label, for `aria-describedby` and `aria-invalid`. */
export function described({ name, hint, problem }: Omit<About, 'label'>): {
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
} {
  const ids = [
    ...(problem === undefined ? [] : [`${name}-problem`]),
    ...(hint === undefined ? [] : [`${name}-hint`]),
  ].join(' ');
  return { 'aria-describedby': ids === '' ? undefined : ids, 'aria-invalid': problem === undefined ? undefined : true };
}

/** A label over something to fill in, and below it what is said of that. */
export function Field({ label, name, hint, problem, children }: About & { children: ComponentChildren }): JSX.Element {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children}
      {problem !== undefined && (
        <p class="field-problem" id={`${name}-problem`}>
          <Icon name="warning" />
          <span>{problem}</span>
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = About & {
  value: string;
  onValue(value: string): void;
  type?: 'text' | 'email' | 'tel' | 'password' | 'date' | 'time' | 'number';
  required?: boolean;
  minLength?: number;
  maxLength?: number;
  min?: string;
  max?: string;
  step?: string;
  autocomplete?: string;
};

/** The days that can be typed: a year of two digits is a mistake, and browsers take it for one of antiquity. */
export const typedYears = { min: '2000-01-01', max: '9999-12-31' };

/** A line to fill in. */
export function TextField(props: TextFieldProps): JSX.Element {
  const { label, name, hint, problem, onValue, ...input } = props;
  // The types of JSX know one shape for each type of input, and no input of several types.
  const attributes: Record<string, unknown> = { id: name, ...described({ name, hint, problem }), ...input };
  return (
    <Field label={label} name={name} hint={hint} problem={problem}>
      <input {...attributes} onInput={(event) => onValue(event.currentTarget.value)} />
    </Field>
  );
}
