import type { JSX } from 'preact';
import { isApiError, type Employee } from 'work-management-client';
import { client } from '../client.ts';
import { FormDialog } from '../dialog.tsx';
import { theirsOf, useDraft } from '../draft.tsx';
import { TextField } from '../field.tsx';
import { announce } from '../notices.ts';
import { issuesOf, type Problems } from '../use-form.ts';
import { getMyself, putEmployee } from '../workspace.ts';

const profile = (person: Employee) => ({
  first_name: person.first_name,
  last_name: person.last_name,
  name: person.name === `${person.first_name} ${person.last_name}` ? '' : person.name,
  phone: person.phone ?? '',
  designation: person.designation ?? '',
  email: person.email,
});

const labels = {
  first_name: 'First name',
  last_name: 'Last name',
  name: 'Shown as',
  designation: 'Job title',
  phone: 'Phone',
  email: 'E-mail address',
} as const;

const nameOf = (field: string): string => `person-${field}`;
const fields = Object.keys(labels) as (keyof typeof labels)[];
const names = Object.fromEntries(fields.map((field) => [field, nameOf(field)]));
const blamed = Object.fromEntries(fields.map((field) => [field, [nameOf(field), labels[field]] as const]));

function blame(error: unknown): Problems {
  if (isApiError(error, 'EMPLOYEE_EXISTS')) return { [nameOf('email')]: 'Somebody of the company has it already.' };
  return { ...theirsOf(error, names), ...issuesOf(error, blamed) };
}

/** Changes what is known of somebody; their job title and address are for admins. */
export function EditPerson({ person, onClose }: { person: Employee; onClose(): void }): JSX.Element {
  const { draft, edit, changes } = useDraft(profile(person));

  async function save(): Promise<void> {
    const changed = changes(profile(await client.employees.get({ employee_id: person._id })));
    const saved = await client.employees.update({ ...changed, _id: person._id });
    putEmployee(saved);
    announce('Saved');
  }

  return (
    <FormDialog heading="Edit" action="Save" sending="Saving…" send={save} blame={blame} onClose={onClose}>
      {(problems) => {
        const props = (field: keyof typeof labels) => ({
          label: labels[field],
          name: nameOf(field),
          problem: problems[nameOf(field)],
          value: draft[field],
          onValue: (value: string) => edit({ [field]: value }),
        });
        return (
          <>
            <div class="side-by-side">
              <TextField {...props('first_name')} required maxLength={100} />
              <TextField {...props('last_name')} required maxLength={100} />
            </div>
            <TextField {...props('name')} hint="Where it is another name than these two." maxLength={200} />
            <TextField {...props('phone')} type="tel" maxLength={40} />
            {getMyself().isAdmin && (
              <>
                <TextField {...props('designation')} maxLength={200} />
                <TextField
                  {...props('email')}
                  type="email"
                  required
                  hint="Another address is invited; the account of the present one has no way in from then on."
                />
              </>
            )}
          </>
        );
      }}
    </FormDialog>
  );
}
