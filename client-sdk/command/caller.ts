import { isApiError, type Client } from 'work-management-client';
import { plainLine } from '../examples/terminal/plain-text.ts';

/** Who calls. */
export type Caller = { employeeId: number; name: string; email: string; companyId: number; company: string };

/** Asks the service, so it also fails if the sign-in is not good any more. Null for an account without a company. */
export async function findCaller(client: Client, signal: AbortSignal): Promise<Caller | null> {
  try {
    const { employee, company } = await client.whoAmI({ signal });
    const { _id: employeeId, name, email } = employee;
    return { employeeId, name, email, companyId: company.company_id, company: company.name };
  } catch (error) {
    if (isApiError(error, 'COMPANY_REQUIRED')) return null;
    throw error;
  }
}

/** A caller in words. */
export const nameOf = ({ name, email, company }: Caller): string => plainLine(`${name} <${email}>, ${company}`);
