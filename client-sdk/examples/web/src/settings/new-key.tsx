import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKeyScope, NewApiKey } from 'work-management-client';
import { client } from '../client.ts';
import { FormDialog } from '../dialog.tsx';
import { Field, TextField } from '../field.tsx';
import { issuesOf } from '../use-form.ts';
import { getMyself } from '../workspace.ts';
import { ScopeFields } from './scope-fields.tsx';

const dayMs = 24 * 3600 * 1000;
const lives: readonly [days: number | null, name: string][] = [
  [30, 'in 30 days'],
  [90, 'in 90 days'],
  [365, 'in a year'],
  [null, 'never'],
];

type NewKeyProps = { onMade(key: NewApiKey): void; onClose(): void };

/** Makes an API key. */
export function NewKey({ onMade, onClose }: NewKeyProps): JSX.Element {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly ApiKeyScope[]>(['read']);
  const [days, setDays] = useState<number | null>(90);

  async function make(): Promise<void> {
    const expiresAt = days === null ? null : new Date(Date.now() + days * dayMs).toISOString();
    onMade(await client.apiKeys.create({ name, scopes: [...scopes], expiresAt }));
  }

  return (
    <FormDialog
      heading="Make a key"
      action="Make the key"
      sending="Making…"
      send={make}
      blame={(error) => issuesOf(error, { name: ['key-name', 'The name'], scopes: ['key-reach', 'What it may do'] })}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <TextField
            label="Name"
            name="key-name"
            hint="What it is for, such as the script that will use it."
            problem={problems['key-name']}
            required
            maxLength={100}
            value={name}
            onValue={setName}
          />
          <ScopeFields isAdmin={getMyself().isAdmin} scopes={scopes} onScopes={setScopes} />
          <Field label="Ends" name="key-end">
            <select
              id="key-end"
              value={days ?? ''}
              onChange={({ currentTarget: { value } }) => setDays(value === '' ? null : Number(value))}
            >
              {lives.map(([count, words]) => (
                <option key={words} value={count ?? ''}>
                  {words}
                </option>
              ))}
            </select>
          </Field>
        </>
      )}
    </FormDialog>
  );
}
