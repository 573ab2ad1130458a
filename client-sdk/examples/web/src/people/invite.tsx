import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isApiError } from 'work-management-client';
import { client, getCompanyId } from '../client.ts';
import { FormDialog } from '../dialog.tsx';
import { TextField } from '../field.tsx';
import type { Keys } from '../keys.ts';
import { announce } from '../notices.ts';
import { personHref } from '../route.ts';
import { issuesOf, type Problems } from '../use-form.ts';
import { employees, putEmployee } from '../workspace.ts';

const fields = {
  first_name: ['invite-first', 'The first name'],
  last_name: ['invite-last', 'The last name'],
  email: ['invite-email', 'The address'],
  designation: ['invite-designation', 'The job title'],
} as const;

/** Adds an employee, whose address is invited by mail. */
export function Invite({ onClose }: { onClose(): void }): JSX.Element {
  const [firstName, setFirstName] = useState('');
  const [lastName, setLastName] = useState('');
  const [email, setEmail] = useState('');
  const [designation, setDesignation] = useState('');

  async function send(keys: Keys): Promise<void> {
    const person = {
      first_name: firstName,
      last_name: lastName,
      email,
      companyId: getCompanyId(),
      ...(designation === '' ? {} : { designation }),
    };
    const added = await client.employees.create(person, { idempotencyKey: keys.of(person) });
    putEmployee(added);
    announce(`${added.name} is invited.`);
  }

  function blame(error: unknown): Problems {
    if (isApiError(error, 'EMPLOYEE_EXISTS')) return { 'invite-email': <AlreadyThere email={email} /> };
    return issuesOf(error, fields);
  }

  return (
    <FormDialog
      heading="Invite somebody"
      action="Send the invitation"
      sending="Sending…"
      send={send}
      blame={blame}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <div class="side-by-side">
            <TextField
              label="First name"
              name="invite-first"
              problem={problems['invite-first']}
              required
              maxLength={100}
              value={firstName}
              onValue={setFirstName}
            />
            <TextField
              label="Last name"
              name="invite-last"
              problem={problems['invite-last']}
              required
              maxLength={100}
              value={lastName}
              onValue={setLastName}
            />
          </div>
          <TextField
            label="E-mail address"
            name="invite-email"
            hint="An invitation is mailed to it. Tasks can be theirs from now on, and they sign in when they have accepted."
            problem={problems['invite-email']}
            type="email"
            required
            value={email}
            onValue={setEmail}
          />
          <TextField
            label="Job title"
            name="invite-designation"
            problem={problems['invite-designation']}
            maxLength={200}
            value={designation}
            onValue={setDesignation}
          />
        </>
      )}
    </FormDialog>
  );
}

/** Who has the address, and what can be done instead. */
function AlreadyThere({ email }: { email: string }): JSX.Element {
  const holder = employees.value.find((one) => one.email.toLowerCase() === email.trim().toLowerCase());
  if (!holder) return <>Somebody of the company has this address already.</>;
  const name = <a href={personHref(holder._id)}>{holder.name}</a>;
  if (holder.isDeleted) return <>This is {name}, who was deleted: restore them instead.</>;
  return holder.isActive ? (
    <>This is {name}, who is an employee already.</>
  ) : (
    <>This is {name}, who is inactive: activate them instead.</>
  );
}
