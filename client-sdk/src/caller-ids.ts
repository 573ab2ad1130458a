import { nobodySignedIn } from './caller.ts';
import type { ClientSession } from './client-session.ts';
import type { CurrentApiKey } from './contract.ts';

/** The company and the employee of the caller; undefined if a session has none. */
export type CallerIds = { company: number | undefined; employee: number | undefined };

/** Finds them for an operation. */
export type LoadCallerIds = (operation: string) => Promise<CallerIds>;

export function idsOfSession(load: () => Promise<ClientSession | null>): LoadCallerIds {
  return async (operation) => {
    const session = await load();
    if (!session) throw nobodySignedIn(operation);
    return { company: session.company?.company_id, employee: session.employee?._id };
  };
}

/** Asks the service whose key it is, when it is first needed: once for all calls, and again if that fails. */
export function idsOfKey(ask: () => Promise<CurrentApiKey>): LoadCallerIds {
  let asked: Promise<CallerIds> | undefined;

  async function load(): Promise<CallerIds> {
    try {
      const { company, employee } = await ask();
      return { company: company.company_id, employee: employee._id };
    } catch (error) {
      asked = undefined;
      throw error;
    }
  }

  return async () => (asked ??= load());
}
