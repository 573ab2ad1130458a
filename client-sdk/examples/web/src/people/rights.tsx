import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Employee, EmployeesUpdateInput } from 'work-management-client';
import { Choice } from '../choice.tsx';
import { client } from '../client.ts';
import { Confirm } from '../confirm.tsx';
import { write } from '../network.ts';
import { announce, explain } from '../notices.ts';
import { Problem } from '../parts.tsx';
import { putEmployee } from '../workspace.ts';
import { standingOf } from './find-people.ts';

type Change = Omit<EmployeesUpdateInput, '_id'>;

/** What somebody may do in the company, and whether they are in it; for admins. */
export function Rights({ person }: { person: Employee }): JSX.Element {
  const { _id, isAdmin, isTeamLeader } = person;
  const [problem, setProblem] = useState<string | null>(null);
  const [asked, setAsked] = useState<'deactivate' | 'delete' | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);

  const last = useRef(Promise.resolve());

  /** Acts after what was asked for before, so that the last click decides. */
  function act(make: () => Promise<Employee>, words: string): void {
    last.current = last.current.then(async () => run(make, words));
  }

  /** Shows the person as the service has them, whether or not it was done. */
  async function run(make: () => Promise<Employee>, words: string): Promise<void> {
    setProblem(null);
    try {
      putEmployee(await write(make));
      announce(words);
    } catch (error) {
      setProblem(explain(error));
      putEmployee(await client.employees.get({ employee_id: _id }).catch(() => ({ ...person })));
    }
  }
  const update = (change: Change, words: string): void =>
    act(async () => client.employees.update({ ...change, _id }), words);

  function closed(isSent: boolean): void {
    setAsked(null);
    if (isSent) heading.current?.focus();
  }

  return (
    <section class="card stack" aria-labelledby="rights-heading">
      <h2 id="rights-heading" tabIndex={-1} ref={heading}>
        Rights
      </h2>
      <Choice
        name="Admin"
        about="Invites and changes people, sets up the company, and sees what everybody earns."
        isChecked={isAdmin}
        onChange={(yes) => update({ isAdmin: yes }, yes ? 'Is an admin now' : 'Is no admin any more')}
      />
      <Choice
        name="Team leader"
        about="Hands tasks over, logs time for others, and approves it where the company has it so."
        isChecked={isTeamLeader}
        onChange={(yes) => update({ isTeamLeader: yes }, yes ? 'Is a team leader now' : 'Leads no team any more')}
      />
      <Standing
        person={person}
        onAsk={setAsked}
        onAct={(what) => {
          // The button is about to go, and the focus with it.
          heading.current?.focus();
          if (what === 'invite') update({ email: person.email }, 'Invited again');
          if (what === 'activate') update({ is_active: true }, 'Active again');
          if (what === 'restore') act(async () => client.employees.restore({ _id }), 'Restored');
        }}
      />
      <Problem text={problem} />
      {asked === 'deactivate' && (
        <Confirm
          question={`Deactivate ${person.name}?`}
          action="Deactivate"
          send={async () => putEmployee(await client.employees.update({ _id, is_active: false }))}
          onClose={closed}
        >
          They are signed out everywhere, their API keys end, and a running timer stops. Their work stays, and they can
          be activated again.
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          question={`Delete ${person.name}?`}
          action="Delete"
          send={async () => {
            await client.employees.delete({ _id });
            putEmployee(await client.employees.get({ employee_id: _id }));
          }}
          onClose={closed}
        >
          They are signed out everywhere and stand among the deleted from then on. Nothing of their work is lost, and
          they can be restored.
        </Confirm>
      )}
    </section>
  );
}

type Act = 'invite' | 'activate' | 'restore';
type StandingProps = { person: Employee; onAsk(what: 'deactivate' | 'delete'): void; onAct(what: Act): void };

/** Whether somebody is in the company, and what can be done about it. */
function Standing({ person, onAsk, onAct }: StandingProps): JSX.Element {
  const standing = standingOf(person);
  const isPending = person.invitationStatus === 'pending';
  const button = (words: string, onClick: () => void): JSX.Element => (
    <button type="button" class="button" onClick={onClick}>
      {words}
    </button>
  );
  return (
    <div class="standing">
      <p class="quiet">
        {standing === 'deleted'
          ? 'Was deleted.'
          : standing === 'inactive'
            ? 'Is inactive, and cannot sign in.'
            : isPending
              ? 'Is active, and has not accepted the invitation yet.'
              : 'Is active.'}
      </p>
      <div class="row-actions">
        {standing === 'active' && isPending && button('Invite again', () => onAct('invite'))}
        {standing === 'active' && button('Deactivate…', () => onAsk('deactivate'))}
        {standing === 'inactive' && button('Activate', () => onAct('activate'))}
        {standing === 'deleted' ? button('Restore', () => onAct('restore')) : button('Delete…', () => onAsk('delete'))}
      </div>
    </div>
  );
}
