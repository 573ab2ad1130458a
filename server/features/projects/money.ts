import { sql } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { ADMIN_REQUIRED } from '../../errors/errors.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import type { Member } from '../../kernel/context.ts';
import { moneyOf, type Money } from '../../kernel/wire/money.ts';
import { toProject, type ProjectRow } from './queries.ts';
import type { Project } from './schemas.ts';

/** Projects as the caller sees them, in the same order: admins see budgets and amounts, which takes one more statement. */
export async function toProjects(
  db: Db,
  caller: Member,
  rows: readonly ProjectRow[],
): Promise<z.input<typeof Project>[]> {
  if (!caller.isAdmin || rows.length === 0) return rows.map(toProject);
  const amounts = await db
    .selectFrom('project_amounts')
    .where('company_id', '=', caller.companyId)
    .where('project_id', '=', sql<number>`any(${rows.map((row) => row.project_id)}::bigint[])`)
    .where('minor_units', '<>', 0)
    .select(['project_id', 'currency', 'minor_units'])
    .orderBy('currency')
    .execute();
  const byProject = Map.groupBy(amounts, (amount) => amount.project_id);
  return rows.map((row) => ({
    ...toProject(row),
    budget: budgetOf(row),
    amounts: (byProject.get(row.project_id) ?? []).map(({ minor_units: minorUnits, currency }) => ({
      minorUnits,
      currency,
    })),
  }));
}

/** One project as the caller sees it. */
export async function showProject(db: Db, caller: Member, row: ProjectRow): Promise<z.input<typeof Project>> {
  const [project] = await toProjects(db, caller, [row]);
  return project!;
}

const budgetOf = (row: ProjectRow): Money | null => moneyOf(row.budget_minor_units, row.budget_currency);

/** The columns of a budget that is given; undefined leaves the stored one. */
export const budgetColumns = (budget: Money | null | undefined) =>
  budget === undefined
    ? {}
    : { budget_minor_units: budget?.minorUnits ?? null, budget_currency: budget?.currency ?? null };

/** Budgets are for admins. */
export function checkMaySetBudget(caller: Member, budget: Money | null | undefined): void {
  if (budget !== undefined && !caller.isAdmin)
    throw ADMIN_REQUIRED({ detail: 'Only an admin of the company may set the budget of a project.' });
}

/** Notes a changed budget for the audit log: events have no money. */
export function noteBudget(db: Db, before: ProjectRow | undefined, after: ProjectRow): void {
  const budgets = [before && budgetOf(before), budgetOf(after)].map((budget) => budget ?? null);
  if (JSON.stringify(budgets[0]) === JSON.stringify(budgets[1])) return;
  noteChange(db, after.company_id, {
    event: 'project.budget_set',
    kind: 'project',
    id: after.project_id,
    before: { budget: budgets[0] },
    after: { budget: budgets[1] },
  });
}
