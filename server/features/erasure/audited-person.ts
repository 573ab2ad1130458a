import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { AuditChange } from '../../kernel/audit-change.ts';
import type { KnownAs } from '../employees/erased.ts';
import type { Eraser } from './known-as.ts';

/* The person in the audit log of their company. */

const erased = { erased: true };

/** The changes of a row without the person: of their record and their API keys only that these were changed. */
export function eraseFromChanges(changes: unknown, employeeId: number, { erase }: Eraser): unknown {
  return (changes as AuditChange[]).map((change) => {
    const isTheirs =
      (change.kind === 'employee' && change.id === employeeId) ||
      (change.kind === 'api_key' && (change.after ?? change.before)?.['userId'] === employeeId);
    if (!isTheirs || change.event === 'employee.erased') return isTheirs ? change : erase(change);
    return { ...change, before: change.before && erased, after: change.after && erased };
  });
}

type Values = Record<string, unknown> | null;

/** The names and addresses that an employee had before, as long as the log has them. */
export async function readEarlierNames(
  db: Db,
  { companyId, employeeId }: { companyId: number; employeeId: number },
): Promise<KnownAs> {
  const { rows } = await sql<{ before: Values; after: Values }>`
    select c.change -> 'before' as before, c.change -> 'after' as after
    from audit_log as a cross join lateral jsonb_array_elements(a.changes) as c (change)
    where a.company_id = ${companyId} and a.subject_kind = 'employee' and a.subject_id = ${employeeId}
      and c.change ->> 'kind' = 'employee' and (c.change ->> 'id')::bigint = ${employeeId}
      and c.change ->> 'event' <> 'employee.erased'`.execute(db);
  const values = rows.flatMap(({ before, after }) => [before, after]);
  const textsOf = (name: string) =>
    values.flatMap((fields) => (typeof fields?.[name] === 'string' ? [fields[name]] : []));
  return { names: textsOf('name'), addresses: textsOf('email') };
}
