import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { client, getCompanyId } from '../client.ts';
import { Icon } from '../icon.tsx';
import { announce } from '../notices.ts';
import { Problem } from '../parts.tsx';
import { useLoad } from '../use-load.ts';
import { groupsOf, hrefOf, optionId, SearchResults, type Result } from './search-results.tsx';

/** While somebody types, nothing is asked for. */
const pauseMs = 150;
const shownMax = 12;

/** Searches the company; `/` leads here from everywhere but from other fields. */
export function SearchBox(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [index, setIndex] = useState(0);
  const q = text.trim();
  const { value, problem, reload } = useLoad((signal) => search(q, signal), [q]);
  const found = value?.q === q ? value.results : undefined;
  const isShown = isOpen && q !== '';
  const chosen = isShown ? found?.[index] : undefined;

  useShortcut(input);
  useEffect(() => {
    if (!isShown || !found || problem !== null) return;
    announce(
      found.length === 0
        ? 'Nothing is found.'
        : `Found: ${found.length}. Arrow keys choose, Enter opens, Escape closes.`,
    );
  }, [isShown, found]);

  function follow(result: Result): void {
    setOpen(false);
    setText('');
    input.current?.blur();
    location.hash = hrefOf(result);
  }

  function onKeyDown(event: KeyboardEvent): void {
    // Enter and Escape end what an input method composes.
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && q !== '') {
      setOpen(true);
      if (isShown && found && found.length > 0) setIndex((index + step + found.length) % found.length);
    } else if (event.key === 'Enter' && chosen) follow(chosen);
    else if (event.key === 'Escape' && isOpen) setOpen(false);
    else if (event.key === 'Escape') setText('');
    else return;
    event.preventDefault();
  }

  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search"
        aria-autocomplete="list"
        aria-expanded={chosen !== undefined}
        aria-controls={chosen && 'search-results'}
        aria-activedescendant={chosen && optionId(index)}
        aria-keyshortcuts="/"
        placeholder="Search"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        enterkeyhint="search"
        maxLength={200}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setIndex(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">/</kbd>
      {isShown && (
        <div class="search-panel" onMouseDown={(event) => event.preventDefault()}>
          <Problem text={problem} onRetry={reload} />
          {problem === null && !found && <p class="quiet">Searching…</p>}
          {problem === null && found?.length === 0 && <p class="quiet">Nothing is found for “{q}”.</p>}
          {problem === null && found && <SearchResults results={found} index={index} onChoose={follow} />}
        </div>
      )}
    </div>
  );
}

async function search(q: string, signal: AbortSignal): Promise<{ q: string; results: Result[] }> {
  if (q === '') return { q, results: [] };
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
  signal.throwIfAborted();
  const { results } = await client.search.company({ company_id: getCompanyId(), q, limit: shownMax }, { signal });
  return { q, results: groupsOf(results).flatMap(([, some]) => some) };
}

/** `/` moves into the field, unless it is typed into another one or stands behind a dialog. */
function useShortcut(input: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const look = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.matches('input, select, textarea')) return;
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      input.current?.select();
    };
    document.addEventListener('keydown', look);
    return () => document.removeEventListener('keydown', look);
  }, []);
}
