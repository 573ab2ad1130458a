import type { Db } from '../../../db/open.ts';
import { notFoundIssue, validationFailed } from '../../errors/errors.ts';
import { CellProblem, quote } from './cell-problem.ts';

type Employee = { employee_id: number; email: string; name: string; is_active: boolean; is_deleted: boolean };

/** Finds the active employee whom a row names, by any of its texts for one person; throws a {@link CellProblem}. */
export type FindPerson = (names: readonly string[]) => number;

const fold = (name: string): string => name.normalize('NFC').trim().toLowerCase();

/**
 * Reads who can be named. A text names the employee to whom the caller maps it, or else the one with that address, or else
 * the one with exactly that name, if only one has it.
 */
export async function readPeople(db: Db, companyId: number, mapping: Record<string, number>): Promise<FindPerson> {
  const employees = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .select(['employee_id', 'email', 'name', 'is_active', 'is_deleted'])
    .execute();
  const byId = new Map(employees.map((one) => [one.employee_id, one]));
  checkMapping(mapping, byId);
  const mapped = new Map(Object.entries(mapping).map(([name, id]) => [fold(name), byId.get(id)!]));
  const present = employees.filter((one) => !one.is_deleted);
  const byEmail = new Map(present.map((one) => [fold(one.email), one]));
  const byName = Map.groupBy(present, (one) => one.name.normalize('NFC'));

  function findOne(name: string): Employee | undefined {
    const named = byName.get(name.normalize('NFC')) ?? [];
    const found = mapped.get(fold(name)) ?? byEmail.get(fold(name));
    if (!found && named.length > 1)
      throw new CellProblem(`is the name of ${named.length} employees, ${quote(name)}: say in \`people\` who is meant`);
    return found ?? named[0];
  }

  return (names) => {
    const given = names.filter((name) => name !== '');
    if (given.length === 0) throw new CellProblem('is empty: the row names nobody', 'required');
    for (const name of given) {
      const found = findOne(name);
      if (!found) continue;
      if (found.is_active && !found.is_deleted) return found.employee_id;
      throw new CellProblem(`names ${quote(name)}, who is not active`, 'invalid_value');
    }
    const shown = given.map(quote).join(', ');
    throw new CellProblem(`names nobody of the company, ${shown}: say in \`people\` who is meant`, 'not_found');
  };
}

function checkMapping(mapping: Record<string, number>, byId: ReadonlyMap<number, Employee>): void {
  const unknown = Object.entries(mapping).filter(([, id]) => !byId.has(id));
  if (unknown.length > 0) throw validationFailed(unknown.map(([name]) => notFoundIssue('people', name)));
}
