import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Employee } from 'work-management-client';
import { Icon } from '../icon.tsx';
import { Avatar, Loading, Problem } from '../parts.tsx';
import { dayInWords } from '../time.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { employees, getMyself, loadPeople } from '../workspace.ts';
import { Access } from './access.tsx';
import { EditPerson } from './edit-person.tsx';
import { Performance } from './performance.tsx';
import { Rights } from './rights.tsx';
import { RoleTags } from './role-tags.tsx';

/** One employee: how to reach them, what they have done, and for admins what they may do. */
export function PersonPage({ employeeId }: { employeeId: number }): JSX.Element {
  const { value, problem, reload } = useLoad(
    async (signal) => {
      await loadPeople(signal);
      return true;
    },
    [employeeId],
  );
  const person = employees.value.find(({ _id }) => _id === employeeId);
  useTitle(person?.name ?? 'Person');

  if (!person) {
    if (problem !== null) return <Problem text={problem} onRetry={reload} />;
    if (!value) return <Loading label="Reading the person" lines={6} />;
    return (
      <div class="empty card">
        <h1>This person is not there</h1>
        <p>Nobody of the company is meant by this address.</p>
        <a class="button primary" href="#/people">
          See all people
        </a>
      </div>
    );
  }
  const { isAdmin, isTeamLeader, _id: myId } = getMyself();
  return (
    <>
      <nav class="crumbs" aria-label="Where this is">
        <a href="#/people">People</a>
      </nav>
      <div class="person-head">
        <Avatar id={person._id} name={person.name} />
        <div>
          <h1>{person.name}</h1>
          {person.designation !== null && <p class="quiet">{person.designation}</p>}
          <RoleTags person={person} />
        </div>
      </div>
      <div class="person-page">
        <div class="stack">
          <Contact person={person} mayEdit={isAdmin || myId === person._id} />
          {(isAdmin || isTeamLeader || myId === person._id) && <Performance person={person} />}
        </div>
        {isAdmin && (
          <div class="stack">
            <Rights person={person} />
            {myId !== person._id && <Access person={person} />}
          </div>
        )}
      </div>
    </>
  );
}

function Contact({ person, mayEdit }: { person: Employee; mayEdit: boolean }): JSX.Element {
  const [isEditing, setEditing] = useState(false);
  const { email, phone, date_of_joining: joined, createdAt } = person;
  return (
    <section class="card" aria-labelledby="contact-heading">
      <h2 id="contact-heading" class="card-head">
        Contact
        {mayEdit && (
          <button type="button" class="button small" onClick={() => setEditing(true)}>
            <Icon name="pencil" />
            Edit
          </button>
        )}
      </h2>
      <dl class="facts">
        <Fact name="E-mail address">
          <a href={`mailto:${email}`}>{email}</a>
        </Fact>
        {phone !== null && <Fact name="Phone">{phone}</Fact>}
        <Fact name={joined === null ? 'Here since' : 'Joined'}>
          {dayInWords(joined ?? createdAt, { dateStyle: 'long' })}
        </Fact>
      </dl>
      {isEditing && <EditPerson person={person} onClose={() => setEditing(false)} />}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
