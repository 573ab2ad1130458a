import type { Client } from 'work-management-client';
import { plainLine } from '../examples/terminal/plain-text.ts';
import { Name, type NamedKind } from './parse-value.ts';
import { UsageProblem } from './problem.ts';
import type { Input } from './read-input.ts';

/** Something that can be meant, with all that it is called. */
export type Candidate = { id: number; names: readonly string[] };

/**
 * The one candidate that a text names: exactly, else without regard to case, else as the beginning of a name. Of several
 * none is guessed.
 */
export function chooseByName(what: string, text: string, candidates: readonly Candidate[]): number {
  const folded = fold(text);
  const ways = [
    (name: string) => name === text,
    (name: string) => fold(name) === folded,
    (name: string) => fold(name).startsWith(folded),
  ];
  for (const isMeant of ways) {
    const found = candidates.filter(({ names }) => names.some(isMeant));
    if (found.length === 1) return found[0]!.id;
    if (found.length > 1) throw ambiguous(what, text, found);
  }
  throw new UsageProblem(`No ${what} is called "${plainLine(text)}". Give its number, or how its name begins.`);
}

const fold = (text: string): string => text.normalize('NFC').toLowerCase();

const shownMax = 10;

function ambiguous(what: string, text: string, found: Candidate[]): UsageProblem {
  const lines = found.slice(0, shownMax).map(({ id, names }) => `  ${id}  ${names.map(plainLine).join('  ')}`);
  const more = found.length > shownMax ? `\n  … and ${found.length - shownMax} more` : '';
  return new UsageProblem(
    `"${plainLine(text)}" may be several ${what}s; give the number of one:\n${lines.join('\n')}${more}`,
  );
}

/** The identifier of what is named. */
export async function lookUp(client: Client, { kind, text }: Name, signal: AbortSignal): Promise<number> {
  const candidates = await lists[kind](client, text, { signal });
  return chooseByName(kind === 'colleague' ? 'employee' : kind, text, candidates);
}

/** The title of a task. Its number where no title can be read: what was done before has succeeded all the same. */
export async function titleOf(client: Client, task_id: number, signal: AbortSignal): Promise<string> {
  return client.tasks.get({ task_id }, { signal }).then(
    ({ title }) => `"${plainLine(title)}"`,
    () => `task ${task_id}`,
  );
}

/** An input whose names are looked up. */
export async function lookUpNames(client: Client, input: Input, signal: AbortSignal): Promise<Input> {
  const found: Input = {};
  for (const [name, value] of Object.entries(input)) {
    if (value instanceof Name) found[name] = await lookUp(client, value, signal);
    else if (Array.isArray(value)) found[name] = await lookUpEach(client, value, signal);
    else found[name] = value;
  }
  return found;
}

async function lookUpEach(client: Client, values: readonly unknown[], signal: AbortSignal): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const value of values) found.push(value instanceof Name ? await lookUp(client, value, signal) : value);
  return found;
}

type Options = { signal: AbortSignal };

const lists: Record<NamedKind, (client: Client, text: string, options: Options) => Promise<Candidate[]>> = {
  project: listProjects,
  task: listTasks,
  employee: listEmployees,
  colleague: listEmployees,
};

/** What the service finds anywhere in a name has those that begin with it. */
const wordsOf = (text: string) => ({ q: text.slice(0, 200) });

async function listProjects(client: Client, text: string, options: Options): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for await (const { _id, name } of client.projects.list(wordsOf(text), options))
    found.push({ id: _id, names: [name] });
  return found;
}

async function listTasks(client: Client, text: string, options: Options): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for await (const { _id, title } of client.tasks.list(wordsOf(text), options)) found.push({ id: _id, names: [title] });
  return found;
}

async function listEmployees(client: Client, _: string, options: Options): Promise<Candidate[]> {
  const { employees } = await client.employees.list({}, options);
  return employees
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ _id, name, email }) => ({ id: _id, names: [name, email] }));
}
