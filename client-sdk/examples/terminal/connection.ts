import { createClient, isCompanyChoice, type Client, type CompanyChoice } from 'work-management-client';
import { ask, askHidden, passwordFromStdin } from './ask.ts';
import { plainLine } from './plain-text.ts';
import { toId, UsageProblem } from './problem.ts';

/** The options of all scripts that say where the service is and who is calling. A secret is never one of them. */
export const connectionOptions = {
  url: { type: 'string' },
  email: { type: 'string' },
  company: { type: 'string' },
  'password-stdin': { type: 'boolean' },
} as const;

/** How they stand in each help. */
export const connectionHelp = `
Who is calling:
  --url URL           where the service is; WMS_URL, or http://127.0.0.1:3000
  --company ID        which company is meant, where one signs in to several
  --email ADDRESS     signs in with this address (WMS_EMAIL) where there is no API key; the password is asked for
  --password-stdin    takes the password from the standard input

An API key in WMS_API_KEY is used where there is one. create-api-key.ts makes one and writes it to a file:
  node --env-file=wms.env SCRIPT …

Ends with 0 when all is done, 1 when it failed or only a part is done, 2 when it was called wrongly.`;

export type ConnectionValues = {
  url?: string | undefined;
  email?: string | undefined;
  company?: string | undefined;
  'password-stdin'?: boolean | undefined;
};

export type Connection = {
  client: Client;
  /** The company of the caller. */
  companyId: number;
  /** The employee who is calling. */
  employeeId: number;
  /** Ends what was begun: streams, and the session where this script signed in. */
  close(): Promise<void>;
};

export function urlOf(url: string | undefined): string {
  return url ?? setting('WMS_URL') ?? 'http://127.0.0.1:3000';
}

export function apiKey(): string | undefined {
  return setting('WMS_API_KEY');
}

/** Connects with the API key, or signs in. */
export async function connect(values: ConnectionValues, signal: AbortSignal): Promise<Connection> {
  const key = apiKey();
  return key === undefined ? signIn(values, signal) : connectByKey(values, key, signal);
}

async function connectByKey(values: ConnectionValues, key: string, signal: AbortSignal): Promise<Connection> {
  if (!/^wms_[\w-]+$/.test(key))
    throw new UsageProblem(
      'WMS_API_KEY is no key of this service: one begins with wms_. Make one with create-api-key.ts',
    );
  const wanted = values.company === undefined ? undefined : toId(values.company, 'The company');
  const client = createClient({ baseUrl: checkedUrl(values.url), apiKey: key });
  const { employee, company } = await client.whoAmI({ signal });
  if (wanted !== undefined && wanted !== company.company_id)
    throw new UsageProblem(`The key in WMS_API_KEY belongs to company ${company.company_id}, not to ${wanted}`);
  return { client, companyId: company.company_id, employeeId: employee._id, close: async () => client.close() };
}

/** Signs in with e-mail and password, for as long as the script runs. */
export async function signIn(values: ConnectionValues, signal: AbortSignal): Promise<Connection> {
  const client = createClient({ baseUrl: checkedUrl(values.url) });
  const { company } = values;
  const instead = 'Set WMS_API_KEY, or sign in with --email and --password-stdin';
  const email = values.email ?? setting('WMS_EMAIL') ?? (await ask('E-mail: ', instead, signal));
  const password =
    values['password-stdin'] === true
      ? await passwordFromStdin()
      : await askHidden(`Password of ${plainLine(email)}: `, instead, signal);
  const chosen = company === undefined ? {} : { company_id: toId(company, 'The company') };
  const answer = await client.auth.login({ email, password, ...chosen }, { signal });
  if (isCompanyChoice(answer)) {
    const company_id = await chooseCompany(answer, signal);
    await client.chooseCompany(answer, { email, company_id });
  }
  const { session } = client;
  if (!session?.company || !session.employee) throw new UsageProblem(`${email} belongs to no company yet`);
  const { company: place, employee } = session;
  return {
    client,
    companyId: place.company_id,
    employeeId: employee._id,
    async close() {
      client.close();
      // What cannot be ended now ends by itself.
      await client.auth.logout({ timeoutMs: 3_000 }).catch(() => {});
    },
  };
}

async function chooseCompany({ companies }: CompanyChoice, signal: AbortSignal): Promise<number> {
  const list = companies
    .map(({ company_id, company_name }) => `  ${company_id}  ${plainLine(company_name)}\n`)
    .join('');
  process.stderr.write(`This address belongs to several companies:\n${list}`);
  return toId(await ask('Company: ', 'Say which company is meant: --company', signal), 'The company');
}

function checkedUrl(given: string | undefined): string {
  const url = urlOf(given);
  if (!/^https?:\/\/[^\s]+$/.test(url) || !URL.canParse(url))
    throw new UsageProblem(`The URL must be like https://api.example.com, not "${url}"`);
  return url;
}

function setting(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value === '' ? undefined : value;
}
