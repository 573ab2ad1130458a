import { createClient, type Client } from 'work-management-client';
import { Problem, UsageProblem, exitCodes } from './problem.ts';
import { openSignInFile, type SignIn, type SignInFile } from './sign-in-file.ts';

export type Connection = {
  client: Client;
  url: string;
  /** How the caller is known to the service. */
  by: 'session' | 'storedKey' | 'environmentKey' | 'nothing';
  file: SignInFile;
};

export const localUrl = 'http://127.0.0.1:3000';

/** The service and the caller: what the environment says, else what `wms login` has stored. */
export function connect(): Connection {
  const file = openSignInFile();
  const stored = file.read();
  const url = findUrl(stored);
  const key = setting('WMS_API_KEY');
  if (key !== undefined)
    return { client: withKey(url, key, 'The key in WMS_API_KEY'), url, by: 'environmentKey', file };
  // A sign-in is for the service that it was made at.
  const own = stored?.url === url ? stored : null;
  if (own?.apiKey !== undefined)
    return { client: withKey(url, own.apiKey, 'The stored key'), url, by: 'storedKey', file };
  const client = createClient({ baseUrl: url, ...file.keeping(url) });
  return { client, url, by: client.session ? 'session' : 'nothing', file };
}

export function withKey(url: string, key: string, what: string): Client {
  if (!/^wms_[\w-]+$/.test(key)) throw new UsageProblem(`${what} is no key of this service: one begins with wms_.`);
  return createClient({ baseUrl: url, apiKey: key });
}

export function notSignedIn(url: string): Problem {
  return new Problem(
    `Nobody is signed in at ${url}: \`wms login\` signs in, or set WMS_API_KEY.`,
    exitCodes.notSignedIn,
  );
}

/** Where the service is: as the environment says, else where somebody signed in, else on this machine. */
export function findUrl(stored: SignIn | null): string {
  const set = setting('WMS_URL');
  return set === undefined ? (stored?.url ?? localUrl) : checkUrl('WMS_URL', set);
}

/** An address as it is stored and compared. `where` it was given is named, and not repeated: it may hold a secret. */
export function checkUrl(where: string, given: string): string {
  if (!/^https?:\/\/[^\s]+$/.test(given) || !URL.canParse(given))
    throw new UsageProblem(`${where} is no address of a service: write it whole, such as https://api.example.com.`);
  const { origin, pathname, username, password, search, hash } = new URL(given);
  if (username !== '' || password !== '') throw new UsageProblem(`${where} must hold no user and no password.`);
  if (search !== '' || hash !== '') throw new UsageProblem(`${where} must end with its path: no ? and no #.`);
  return origin + pathname.replace(/\/+$/, '');
}

export function setting(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value === '' ? undefined : value;
}
