import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from 'work-management-client';
import { Icon, type IconName } from '../icon.tsx';
import { personHref, taskHref } from '../route.ts';

export type Result = Answer<'search.company'>['results'][number];

const kinds: Record<Result['kind'], { name: string; icon: IconName }> = {
  employee: { name: 'People', icon: 'person' },
  project: { name: 'Projects', icon: 'board' },
  task: { name: 'Tasks', icon: 'done' },
  comment: { name: 'Comments', icon: 'reply' },
};

/** Those of one kind together, the kind of the best one first. */
export const groupsOf = (results: readonly Result[]): (readonly [kind: Result['kind'], Result[]])[] =>
  [...new Set(results.map(({ kind }) => kind))].map((kind) => [kind, results.filter((one) => one.kind === kind)]);

export function hrefOf({ kind, _id, taskId }: Result): string {
  if (kind === 'employee') return personHref(_id);
  if (kind === 'project') return `#/projects/${_id}`;
  return kind === 'comment' && taskId !== null ? taskHref(taskId, _id) : taskHref(_id);
}

export const optionId = (index: number): string => `search-result-${index}`;

type SearchResultsProps = { results: readonly Result[]; index: number; onChoose(result: Result): void };

/** What is found, in groups; the field in front of it keeps the focus. */
export function SearchResults({ results, index, onChoose }: SearchResultsProps): JSX.Element | null {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [index]);
  if (results.length === 0) return null;
  return (
    <div id="search-results" ref={list} role="listbox" aria-label="What is found">
      {groupsOf(results).map(([kind, some]) => (
        <div key={kind} role="group" aria-labelledby={`search-${kind}`}>
          <h2 id={`search-${kind}`} role="presentation">
            {kinds[kind].name}
          </h2>
          {some.map((result) => (
            <div
              key={result._id}
              id={optionId(results.indexOf(result))}
              class="search-result"
              role="option"
              aria-selected={results.indexOf(result) === index}
              onClick={() => onChoose(result)}
            >
              <Icon name={kinds[kind].icon} />
              <p>
                <Marked {...result.title} />
                {result.excerpt && (
                  <span class="search-excerpt">
                    <Marked {...result.excerpt} />
                  </span>
                )}
              </p>
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

/** A text with its matches marked. */
function Marked({ text, ranges }: Result['title']): JSX.Element {
  return (
    <span>
      {ranges.map(({ start, end }, nth) => (
        <>
          {text.slice(ranges[nth - 1]?.end ?? 0, start)}
          <mark>{text.slice(start, end)}</mark>
        </>
      ))}
      {text.slice(ranges.at(-1)?.end ?? 0)}
    </span>
  );
}
