import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from '../icon.tsx';
import { Loading, statuses } from '../parts.tsx';
import { boardHref } from '../route.ts';
import { dayIn, dayInWords, now } from '../time.ts';
import { useTitle } from '../use-title.ts';
import { companyName, getMyself, projects, timezone } from '../workspace.ts';
import { Column } from './column.tsx';
import { Figures } from './figures.tsx';
import { FirstProject } from './first-project.tsx';
import { NewTask } from './new-task.tsx';
import { useLiveTasks } from './use-live-tasks.ts';

type BoardProps = { projectId: number | null; mine: boolean };

/** The tasks of the company by their status. */
export function Board({ projectId, mine }: BoardProps): JSX.Element {
  useTitle('Board');
  const [isNew, setNew] = useState(false);
  const live = useLiveTasks({ projectId, mine });
  const today = dayIn(timezone.value, Math.floor(now.value / 60_000) * 60_000);
  const isMissing = projectId !== null && !projects.value?.some(({ _id }) => _id === projectId);
  const firstName = getMyself().name.split(' ')[0]!;

  return (
    <>
      <div class="page-head">
        <div>
          <p class="eyebrow">{dayInWords(today, { weekday: 'long', day: 'numeric', month: 'long' })}</p>
          <h1>{projects.value?.length === 0 ? `Welcome, ${firstName}` : `Hello, ${firstName}`}</h1>
        </div>
        <Figures changes={live?.changes.value ?? 0} />
      </div>
      {projects.value === null && <Loading label="Reading the projects" lines={6} />}
      {projects.value?.length === 0 && <FirstProject companyName={companyName.value} />}
      {projects.value && projects.value.length > 0 && (
        <>
          <div class="toolbar">
            <Filters projectId={projectId} mine={mine} />
            <button type="button" class="button primary" onClick={() => setNew(true)}>
              <Icon name="plus" />
              New task
            </button>
          </div>
          {isMissing ? (
            <MissingProject mine={mine} />
          ) : (
            <div class="board">
              {statuses.map((status) => (
                <Column key={status} status={status} live={live} today={today} onNew={() => setNew(true)} />
              ))}
            </div>
          )}
        </>
      )}
      {isNew && <NewTask projectId={isMissing ? null : projectId} onClose={() => setNew(false)} />}
    </>
  );
}

function MissingProject({ mine }: { mine: boolean }): JSX.Element {
  return (
    <div class="empty card">
      <h2>This project is not there</h2>
      <p>It was deleted, or it belongs to another company.</p>
      <a class="button primary" href={boardHref({ projectId: null, mine })}>
        Show all projects
      </a>
    </div>
  );
}

function Filters({ projectId, mine }: BoardProps): JSX.Element {
  return (
    <div class="filters" role="group" aria-label="Which tasks">
      <label class="visually-hidden" for="project-filter">
        Project
      </label>
      <select
        id="project-filter"
        value={projectId ?? ''}
        onChange={({ currentTarget: { value } }) =>
          (location.hash = boardHref({ projectId: value === '' ? null : Number(value), mine }))
        }
      >
        <option value="">All projects</option>
        {projects.value?.map(({ _id, name }) => (
          <option key={_id} value={_id}>
            {name}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="button toggle"
        aria-pressed={mine}
        onClick={() => (location.hash = boardHref({ projectId, mine: !mine }))}
      >
        Only mine
      </button>
    </div>
  );
}
