import type { ComponentChildren, JSX } from 'preact';
import { described, Field } from '../field.tsx';
import { Icon } from '../icon.tsx';
import { activeEmployees, nameOf } from '../workspace.ts';

type CollaboratorsProps = {
  name: string;
  ids: readonly number[];
  problem: ComponentChildren;
  onChange(ids: number[]): void;
};

/** The people who work on a task with its owner, and a list to add some. */
export function Collaborators({ name, ids, problem, onChange }: CollaboratorsProps): JSX.Element {
  const others = activeEmployees.value.filter(({ _id }) => !ids.includes(_id));
  return (
    <Field label="With" name={name} problem={problem}>
      {ids.length > 0 && (
        <ul class="chips">
          {byName(ids).map((employeeId) => (
            <li key={employeeId}>
              {nameOf(employeeId)}
              <button
                type="button"
                class="icon-button small"
                aria-label={`Remove ${nameOf(employeeId)}`}
                onClick={() => {
                  // The button is about to go, and the focus with it.
                  document.getElementById(name)?.focus();
                  onChange(ids.filter((one) => one !== employeeId));
                }}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <select
        id={name}
        {...described({ name, problem })}
        value=""
        onChange={({ currentTarget }) => {
          const added = Number(currentTarget.value);
          currentTarget.value = '';
          onChange([...ids, added].toSorted((a, b) => a - b));
        }}
      >
        <option value="">Add somebody…</option>
        {others.map((person) => (
          <option key={person._id} value={person._id}>
            {person.name}
          </option>
        ))}
      </select>
    </Field>
  );
}

const byName = (ids: readonly number[]): number[] => ids.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
