import type { JSX } from 'preact';

type ChoiceProps = {
  name: string;
  about: string;
  isChecked: boolean;
  isRequired?: boolean;
  onChange(isChecked: boolean): void;
};

/** A box to check, with what comes of it. */
export function Choice({ name, about, isChecked, isRequired = false, onChange }: ChoiceProps): JSX.Element {
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isChecked}
        required={isRequired}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        <strong>{name}</strong>
        <span>{about}</span>
      </span>
    </label>
  );
}
