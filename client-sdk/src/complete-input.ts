import { ApiError } from './api-error.ts';
import type { LoadCallerIds } from './caller-ids.ts';

/**
 * Fills absent fields of an input with the ids of the caller, by the operation's entry in the table, such as
 * `company_id=company`. A field that is present stays, even if it is undefined: a mistake must not turn into the caller.
 */
export async function completeInput(
  operation: string,
  words: string,
  input: object,
  loadIds: LoadCallerIds,
): Promise<object> {
  const absent = words
    .split(' ')
    .map((word) => word.split('=') as [field: string, source?: 'company' | 'employee'])
    .filter(([field, source]) => source !== undefined && !(field in input));
  if (absent.length === 0) return input;
  const ids = await loadIds(operation);
  const filled = absent.map(([field, source]) => {
    const id = ids[source!];
    if (id !== undefined) return [field, id];
    const message = `${operation} needs ${field}, and the session has none: give it, or sign in to a company.`;
    throw new ApiError('COMPANY_REQUIRED', message, { status: 403, operation });
  });
  return { ...input, ...(Object.fromEntries(filled) as object) };
}
