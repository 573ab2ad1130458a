import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Company } from 'work-management-client';
import { client, getCompanyId } from '../client.ts';
import { theirsOf, useDraft } from '../draft.tsx';
import { described, Field, TextField } from '../field.tsx';
import { Loading, Problem } from '../parts.tsx';
import { issuesOf, useForm } from '../use-form.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { getMyself, nameOf, putCompany } from '../workspace.ts';
import { PlanCard } from './plan-card.tsx';
import { SettingsHead } from './settings-head.tsx';

/** The company: its name, its time zone, and its plan. Admins change it, all others read it. */
export function CompanySettings(): JSX.Element {
  useTitle('Company');
  const { value, problem, reload } = useLoad(
    async (signal) => client.company.get({ company_id: getCompanyId() }, { signal }),
    [],
  );
  return (
    <>
      <SettingsHead heading="Company" />
      <Problem text={value ? null : problem} onRetry={reload} />
      {!value && problem === null && <Loading label="Reading the company" lines={6} />}
      {value && (
        <div class="settings">
          <section class="card" aria-labelledby="company-heading">
            <h2 id="company-heading" class="card-head">
              Profile
            </h2>
            {getMyself().isAdmin ? (
              <CompanyForm company={value.company} onSaved={reload} />
            ) : (
              <CompanyFacts company={value.company} />
            )}
          </section>
          <PlanCard details={value} />
        </div>
      )}
    </>
  );
}

function CompanyFacts({ company: { name, timezone, owner_id: ownerId } }: { company: Company }): JSX.Element {
  return (
    <dl class="facts">
      <div>
        <dt>Name</dt>
        <dd>{name}</dd>
      </div>
      <div>
        <dt>Time zone</dt>
        <dd>{timezone}</dd>
      </div>
      {ownerId !== null && (
        <div>
          <dt>Owner</dt>
          <dd>{nameOf(ownerId)}</dd>
        </div>
      )}
    </dl>
  );
}

const zoneHint = 'Days and weeks of the company are counted in it. After a change all earlier ones are counted again.';

const profileOf = ({ name, timezone }: Company) => ({ name, timezone });

function CompanyForm({ company, onSaved }: { company: Company; onSaved(): void }): JSX.Element {
  const { draft, edit, changes } = useDraft(profileOf(company));
  const [isSaved, setSaved] = useState(false);
  const company_id = getCompanyId();
  const { isSending, problem, problems, onSubmit } = useForm(
    async () => {
      setSaved(false);
      const latest = await client.company.get({ company_id });
      putCompany(await client.company.update({ company_id, ...changes(profileOf(latest.company)) }));
      setSaved(true);
      onSaved();
    },
    (error) => ({
      ...theirsOf(error, { name: 'company-name', timezone: 'company-zone' }),
      ...issuesOf(error, { name: ['company-name', 'The name'], timezone: ['company-zone', 'The time zone'] }),
    }),
  );
  const zone = { name: 'company-zone', hint: zoneHint, problem: problems['company-zone'] };
  return (
    <form class="stack" onSubmit={onSubmit} onInput={() => setSaved(false)}>
      <TextField
        label="Name"
        name="company-name"
        problem={problems['company-name']}
        required
        maxLength={200}
        value={draft.name}
        onValue={(name) => edit({ name })}
      />
      <Field label="Time zone" {...zone}>
        <select
          id={zone.name}
          {...described(zone)}
          value={draft.timezone}
          onChange={(event) => edit({ timezone: event.currentTarget.value })}
        >
          {zonesWith(draft.timezone, company.timezone).map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </Field>
      <Problem text={problem} />
      <div class="row-actions">
        <button type="submit" class="button primary" aria-disabled={isSending}>
          {isSending ? 'Saving…' : 'Save'}
        </button>
        <span role="status">{isSaved && 'Saved.'}</span>
      </div>
    </form>
  );
}

/** The time zones that this browser knows, with those that are chosen: they may have another name here. */
const zonesWith = (...chosen: string[]): string[] =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ...chosen])].toSorted((a, b) => (a < b ? -1 : 1));
