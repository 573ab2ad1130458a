import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKeyScope } from 'work-management-client';
import { Choice } from '../choice.tsx';
import { Field } from '../field.tsx';
import { areaNames, areas, levelNames, scopeNames, scopesOfLevel, type Area, type Level } from './key-scopes.ts';

type ScopeFieldsProps = {
  isAdmin: boolean;
  scopes: readonly ApiKeyScope[];
  onScopes(scopes: ApiKeyScope[]): void;
};

/** What a key may do: everything that its maker may, or some areas. */
export function ScopeFields({ isAdmin, scopes, onScopes }: ScopeFieldsProps): JSX.Element {
  const [isNarrow, setNarrow] = useState(false);
  const offered = [
    ...(isNarrow ? [] : (['read', 'write'] as const)),
    ...(isAdmin && isNarrow ? (['admin'] as const) : []),
    ...(isAdmin ? (['login'] as const) : []),
  ];
  const withoutArea = (area: Area) => scopes.filter((scope) => !scope.startsWith(`${area}:`));

  return (
    <fieldset class="stack">
      <legend>What it may do</legend>
      <Field label="Where" name="key-reach">
        <select
          id="key-reach"
          value={isNarrow ? 'areas' : 'everything'}
          onChange={({ currentTarget: { value } }) => {
            setNarrow(value === 'areas');
            onScopes(value === 'areas' ? ['time:read'] : ['read']);
          }}
        >
          <option value="everything">in all areas</option>
          <option value="areas">in some areas</option>
        </select>
      </Field>
      {isNarrow &&
        areas.map((area) => (
          <Field key={area} label={areaNames[area]} name={`key-area-${area}`}>
            <select
              id={`key-area-${area}`}
              value={levelOf(scopes, area)}
              onChange={({ currentTarget: { value } }) =>
                onScopes([...withoutArea(area), ...scopesOfLevel(area, value as Level)])
              }
            >
              {Object.entries(levelNames).map(([level, words]) => (
                <option key={level} value={level}>
                  {words}
                </option>
              ))}
            </select>
          </Field>
        ))}
      {offered.map((scope) => (
        <Choice
          key={scope}
          name={scopeNames[scope][0]}
          about={scopeNames[scope][1]}
          isRequired={scopes.length === 0 && scope === offered[0]}
          isChecked={scopes.includes(scope)}
          onChange={(isChecked) => onScopes([...scopes.filter((one) => one !== scope), ...(isChecked ? [scope] : [])])}
        />
      ))}
    </fieldset>
  );
}

function levelOf(scopes: readonly ApiKeyScope[], area: Area): Level {
  if (scopes.includes(`${area}:write`)) return 'write';
  return scopes.includes(`${area}:read`) ? 'read' : 'none';
}
