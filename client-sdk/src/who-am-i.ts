import { ApiError } from './api-error.ts';
import type { CallOptions } from './call-types.ts';
import type { CallerIds } from './caller-ids.ts';
import type { ApiKey, CurrentApiKey, Operations } from './contract.ts';

/** The caller: an employee of a company, with a session or an API key. */
export interface WhoAmI extends Pick<CurrentApiKey, 'employee' | 'company'> {
  /** The API key, with its scopes and its end; null with a session. */
  key: ApiKey | null;
}

/** The caller with a session, from the operations that tell of people and companies. */
export async function readSessionHolder(
  { employees, company }: Pick<Operations, 'employees' | 'company'>,
  ids: CallerIds,
  options: CallOptions,
): Promise<WhoAmI> {
  if (ids.company === undefined || ids.employee === undefined) {
    const message = 'The session belongs to no company: sign in to one, or register one first.';
    throw new ApiError('COMPANY_REQUIRED', message, { status: 403, operation: 'whoAmI' });
  }
  const [me, place] = await Promise.all([
    employees.get({ employee_id: ids.employee }, options),
    company.get({ company_id: ids.company }, options),
  ]);
  const { _id, name, email, isAdmin, isTeamLeader } = me;
  const { company_id, name: company_name, timezone } = place.company;
  return {
    key: null,
    employee: { _id, name, email, isAdmin, isTeamLeader },
    company: { company_id, name: company_name, timezone, closesAt: place.closesAt },
  };
}
