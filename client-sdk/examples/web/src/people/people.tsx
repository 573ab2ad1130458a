import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Employee } from 'work-management-client';
import { Icon } from '../icon.tsx';
import { Avatar, Loading, Problem } from '../parts.tsx';
import { personHref } from '../route.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { employees, getMyself, loadPeople } from '../workspace.ts';
import { Invite } from './invite.tsx';
import { findPeople, standingOf, standings, type Standing } from './find-people.ts';
import { RoleTags } from './role-tags.tsx';

/** So many are drawn at once; a search finds the others. */
const shownMax = 60;

const standingNames: Record<Standing, string> = { active: 'Active', inactive: 'Inactive', deleted: 'Deleted' };

/** Everybody of the company; admins add to them. */
export function People(): JSX.Element {
  useTitle('People');
  const [search, setSearch] = useState('');
  const [standing, setStanding] = useState<Standing>('active');
  const [isInviting, setInviting] = useState(false);
  const { problem, reload } = useLoad(loadPeople, []);
  const isRead = employees.value.length > 0;
  const found = findPeople(employees.value, search);
  const shown = found.filter((one) => standingOf(one) === standing);

  return (
    <>
      <div class="page-head">
        <h1>People</h1>
        {getMyself().isAdmin && (
          <button type="button" class="button primary" onClick={() => setInviting(true)}>
            <Icon name="plus" />
            Invite somebody
          </button>
        )}
      </div>
      <div class="toolbar directory-tools">
        <input
          type="search"
          aria-label="Search by name, e-mail address or job title"
          placeholder="Name, address or job title"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <div class="ways" role="group" aria-label="Which people">
          {standings.map((one) => (
            <button key={one} type="button" aria-pressed={standing === one} onClick={() => setStanding(one)}>
              {standingNames[one]}{' '}
              {isRead && <span class="way-count">{found.filter((person) => standingOf(person) === one).length}</span>}
            </button>
          ))}
        </div>
      </div>
      <Problem text={isRead ? null : problem} onRetry={reload} />
      {!isRead && problem === null && <Loading label="Reading the people" lines={6} />}
      {isRead && (
        <section class="card directory" aria-label={`${standingNames[standing]} people`}>
          {shown.length === 0 && <p class="quiet">{noneInWords(search, standing)}</p>}
          <Directory key={`${standing} ${search}`} people={shown} />
        </section>
      )}
      {isInviting && <Invite onClose={() => setInviting(false)} />}
    </>
  );
}

function noneInWords(search: string, standing: Standing): string {
  if (search.trim() !== '') return `Nobody who is ${standing} is called so, or has that address or job title.`;
  return standing === 'deleted' ? 'Nobody was deleted.' : `Nobody is ${standing}.`;
}

function Directory({ people }: { people: Employee[] }): JSX.Element {
  const [max, setMax] = useState(shownMax);
  return (
    <>
      <ul>
        {people.slice(0, max).map((person) => (
          <PersonRow key={person._id} person={person} />
        ))}
      </ul>
      {people.length > max && (
        <button type="button" class="button ghost wide" onClick={() => setMax(max + shownMax)}>
          Show more of {people.length}
        </button>
      )}
    </>
  );
}

function PersonRow({ person }: { person: Employee }): JSX.Element {
  const { _id, name, email, designation } = person;
  return (
    <li class="directory-row">
      <Avatar id={_id} name={name} />
      <p class="directory-name">
        <a href={personHref(_id)}>{name}</a>
        {designation !== null && <span>{designation}</span>}
      </p>
      <p class="directory-address">{email}</p>
      <RoleTags person={person} />
    </li>
  );
}
