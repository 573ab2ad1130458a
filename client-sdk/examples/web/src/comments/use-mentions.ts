import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Employee } from 'work-management-client';
import { announce } from '../notices.ts';
import { activeEmployees } from '../workspace.ts';
import { complete, queryAt, suggestionsFor, type Query } from './mentions.ts';

type Mentions = {
  people: Employee[];
  index: number;
  look(): void;
  close(): void;
  choose(person: Employee): void;
  /** Answers whether the key was for the list. */
  takeKey(event: KeyboardEvent): boolean;
};

/** The people who are offered while a mention is typed in a text area; `setText` takes over what is chosen. */
export function useMentions(area: { current: HTMLTextAreaElement | null }, setText: (text: string) => void): Mentions {
  const [query, setQuery] = useState<Query | null>(null);
  const [index, setIndex] = useState(0);
  const cursor = useRef<number | null>(null);
  const people = query ? suggestionsFor(query, activeEmployees.value) : [];

  // The text is put in by the next rendering; the cursor belongs behind the mention then, before another key is heard.
  useLayoutEffect(() => {
    if (cursor.current === null) return;
    area.current?.setSelectionRange(cursor.current, cursor.current);
    cursor.current = null;
  });

  useEffect(() => {
    if (people.length === 0) return;
    announce(`People to mention: ${people.length}. Arrow keys choose, Enter takes.`);
  }, [people.length]);

  function close(): void {
    setQuery(null);
    setIndex(0);
  }

  function choose(person: Employee): void {
    if (!area.current || !query) return;
    const done = complete(area.current.value, query, person.name);
    cursor.current = done.cursor;
    setText(done.text);
    close();
  }

  return {
    people,
    index: Math.min(index, Math.max(0, people.length - 1)),
    look() {
      if (!area.current) return;
      setQuery(queryAt(area.current.value, area.current.selectionStart));
      setIndex(0);
    },
    close,
    choose,
    takeKey(event) {
      if (people.length === 0) return false;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) setIndex((index + step + people.length) % people.length);
      else if ((event.key === 'Enter' && !event.ctrlKey && !event.metaKey) || event.key === 'Tab')
        choose(people[index] ?? people[0]!);
      else if (event.key === 'Escape') close();
      else return false;
      event.preventDefault();
      return true;
    },
  };
}
