import { invalid } from '../../errors/errors.ts';
import { callOperation, type Agent } from './agent.ts';
import type { NamedKind } from './arguments.ts';

/** Something that can be meant, with all that it is called. */
type Candidate = { id: number; names: string[] };
type Found = { candidates: readonly Candidate[]; hasMore?: boolean };

/** Finds the number of what an argument names. */
export type LookUp = (argument: string, kind: NamedKind, text: string) => Promise<number>;

/**
 * Names are looked up with the operations that the agent may call, so it finds nothing that it could not list. `me` is
 * the agent's own person.
 */
export function createLookUp(agent: Agent): LookUp {
  return async (argument, kind, text) => {
    const isPerson = kind === 'employee' || kind === 'colleague';
    if (isPerson && text.toLowerCase() === 'me') return agent.membership.employeeId;
    const wanted = text.trim();
    if (wanted === '') throw invalid([argument], 'must not be empty', 'too_small');
    const what = isPerson ? 'person' : kind;
    return chosen(argument, { what, wanted }, await candidatesOf[kind](agent, wanted.slice(0, 200)));
  };
}

type Asked = { what: string; wanted: string };

/**
 * The one candidate that is called so: exactly, else without regard to case, else by the beginning of a name, else by a part
 * of it. Of several none is guessed.
 */
function chosen(argument: string, { what, wanted }: Asked, { candidates, hasMore = false }: Found): number {
  const several = (found: readonly Candidate[]) =>
    invalid([argument], `may mean several: ${listed(found)}; give the number of one`, 'invalid_value');
  // The one that is called so may be among those that were not read.
  if (hasMore) throw several(candidates);
  const folded = fold(wanted);
  const ways = [
    (name: string) => name === wanted,
    (name: string) => fold(name) === folded,
    (name: string) => fold(name).startsWith(folded),
    (name: string) => fold(name).includes(folded),
  ];
  for (const isMeant of ways) {
    const found = candidates.filter(({ names }) => names.some(isMeant));
    if (found.length === 1) return found[0]!.id;
    if (found.length > 1) throw several(found);
  }
  throw invalid([argument], `names no ${what} that you see; give a number, or search for it`, 'not_found');
}

const fold = (text: string): string => text.normalize('NFC').toLowerCase();

const shownMax = 10;

function listed(found: readonly Candidate[]): string {
  const shown = found
    .slice(0, shownMax)
    .map(({ id, names }) => `${id} ${JSON.stringify(names.join(', ').slice(0, 100))}`);
  return found.length > shownMax ? `${shown.join(', ')} and more` : shown.join(', ');
}

type Find = (agent: Agent, text: string) => Promise<Found>;

const findPeople: Find = async (agent, q) => {
  const { companyId } = agent.membership;
  const { employees } = await query(agent, 'employees.search', { company_id: companyId, q });
  const toCandidate = ({ _id, name, email }: Row): Candidate => ({
    id: _id as number,
    names: [name as string, email as string],
  });
  return { candidates: rows(employees).map(toCandidate) };
};

const candidatesOf: Record<NamedKind, Find> = {
  employee: findPeople,
  colleague: findPeople,
  project: (agent, q) => findInPages(agent, 'projects.list', { q, field: 'name' }),
  task: (agent, q) => findInPages(agent, 'tasks.list', { q, field: 'title' }),
};

/** Of a name that is in more records than this, the agent gives a number. */
const pagesMax = 5;

async function findInPages(
  agent: Agent,
  operation: string,
  { q, field }: { q: string; field: string },
): Promise<Found> {
  const candidates: Candidate[] = [];
  for (let page = 1; page <= pagesMax; page += 1) {
    const { results, totalPages } = await query(agent, operation, { company_id: agent.membership.companyId, q, page });
    candidates.push(...rows(results).map((row) => ({ id: row['_id'] as number, names: [row[field] as string] })));
    if (page >= (totalPages as number)) return { candidates };
  }
  return { candidates, hasMore: true };
}

const query = async (agent: Agent, name: string, input: Record<string, unknown>) =>
  (await callOperation(agent, { name, type: 'query' }, input)).answer;

type Row = Record<string, unknown>;
const rows = (list: unknown) => list as Row[];
