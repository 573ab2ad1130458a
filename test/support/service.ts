import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { Database } from '../../db/open.ts';
import { createApp, type App, type AppParts } from '../../server/app.ts';
import { getOrInsertAccount, verifyAddress } from '../../server/features/auth/accounts.ts';
import { acceptInvitation as accept } from '../../server/features/memberships/membership.ts';
import { createIdentityProvider, type IdentityProviders } from '../../server/platform/identity-provider.ts';
import { createLimits, type Limits } from '../../server/platform/rate-limits.ts';
import { createPasswords } from '../../server/platform/passwords.ts';
import { createTokens } from '../../server/platform/tokens.ts';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import { createLogger } from '../../server/platform/log.ts';
import { createCaller, type Actor, type Caller, type TokenPair } from './actor.ts';
import { createTestClock, type TestClock } from './clock.ts';
import { openClone } from './database.ts';
import { atEndOfFile } from './file-end.ts';
import { checkResponse } from './check-response.ts';
import { countResponse } from './held-responses.ts';
import { createMailbox, type Mailbox } from './mailbox.ts';
import { watchResponses } from './watch-responses.ts';

/** The password of every employee that a test makes. */
export const password = 'correct horse battery staple';
/** The least that argon2 takes: with a real hash, most of what a sign-in costs would be that. */
const hashCost = { memoryCost: 8, timeCost: 1 };
const passwordHash = createPasswords(hashCost).hash(password);
/** With which every service of this process signs. */
export const keys = generateKeys();

export type Service = {
  app: App;
  url: string;
  /** As the owner of the tables, who sees all rows; the service itself is given row security. */
  database: Database;
  clock: TestClock;
  mailbox: Mailbox;
  /** Log lines so far, as text. */
  log(): string;
  /** Someone without a session. */
  anonymous: Caller;
  /** Someone with the given session. */
  as(pair: TokenPair): Caller;
  /** Runs the pending jobs and the work behind answers. */
  drain(): Promise<void>;
  /** Registers a company through the real steps; answers its admin. */
  registerCompany(company?: { name?: string; email?: string; firstName?: string }): Promise<Actor>;
  /** Has an admin add an employee, and signs that one in. */
  addEmployee(
    admin: Actor,
    employee?: Partial<{
      first_name: string;
      last_name: string;
      email: string;
      designation: string;
      salary: number;
      isTeamLeader: boolean;
      isAdmin: boolean;
    }>,
  ): Promise<Actor>;
  signIn(email: string, companyId?: number): Promise<Actor>;
};

/** Neither Google nor Apple is set up. */
function withoutProviders(clock: TestClock): IdentityProviders {
  const unset = createIdentityProvider(
    { issuer: 'https://none.example', audiences: [], jwksUrl: 'https://none.example/keys' },
    clock,
  );
  return { google: unset, apple: unset };
}

/** What the owner of an address does by signing in with a code, without the mail: most tests are about other things. */
export async function acceptInvitation(
  { db }: Database,
  { companyId, email, now }: { companyId: number; email: string; now: Date },
): Promise<void> {
  const account = await getOrInsertAccount(db, email, now);
  await verifyAddress(db, account, now);
  const { employee_id: employeeId } = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('email', '=', email)
    .select('employee_id')
    .executeTakeFirstOrThrow();
  await accept(db, { companyId, employeeId, accountId: account.account_id, now });
}

/** Sets a password at an address without proving it, as versions before could, and signs in with it. */
export async function squat({ database: { db }, clock, anonymous, as }: Service, email: string): Promise<Caller> {
  const now = clock.now();
  await db
    .insertInto('accounts')
    .values({ email, password_hash: await passwordHash, created_at: now, updated_at: now })
    .execute();
  const { body } = await anonymous.post('/login/', { email, password });
  return as(body);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

let people = 0;
let isWatching = false;

/** Holds the answers of all services of this test file against the document. */
function watchThisFile(): void {
  if (isWatching) return;
  isWatching = true;
  const stop = watchResponses((answered) => countResponse(checkResponse(answered)));
  atEndOfFile(async () => {
    isWatching = false;
    stop();
  });
}

/** Starts the service for this test file, on a database of its own, and ends it after the last test. */
export async function startService(
  overrides: {
    requestsPerMinute?: number;
    identityProviders?: (clock: TestClock) => IdentityProviders;
    limits?: Limits;
    settings?: Partial<AppParts['settings']>;
    /** The addresses of hosts of webhooks; a public one by default, to which nothing is sent but by a test that asks for it. */
    resolveName?: AppParts['resolveName'];
    /** Its public address is where it listens, as pages in a browser need it. */
    isPublicHere?: boolean;
    /** Passwords are hashed as they are for users. */
    hashesSlowly?: boolean;
  } = {},
): Promise<Service> {
  watchThisFile();
  const port = overrides.isPublicHere === true ? await freePort() : 0;
  const secured = await openClone();
  const database = { ...secured, ...secured.owner };
  const clock = createTestClock();
  const mailbox = createMailbox();
  const undeclared: string[] = [];
  const lines: string[] = [];
  const app = await createApp({
    database: secured,
    clock,
    mailer: mailbox,
    tokens: await createTokens(await keys),
    ...(overrides.hashesSlowly !== true && { hashCost }),
    identityProviders: (overrides.identityProviders ?? withoutProviders)(clock),
    resolveName: overrides.resolveName ?? (async () => ['8.8.8.8']),
    limits: overrides.limits ?? createLimits({ requestsPerMinute: overrides.requestsPerMinute ?? 100_000 }),
    settings: {
      publicUrl: port === 0 ? 'https://api.example.test' : `http://127.0.0.1:${port}`,
      appUrl: 'https://app.example.test',
      requireTokenPair: true,
      corsOrigins: [],
      trustProxy: [],
      ...overrides.settings,
    },
    logger: createLogger({ level: 'debug', to: { write: (line) => void lines.push(line) } }),
    onUndeclaredError: (operation, code) => undeclared.push(`${operation}: ${code}`),
  });
  const url = await app.server.listen({ port, host: '127.0.0.1' });

  atEndOfFile(async () => {
    await app.close();
    await database.close();
    if (undeclared.length > 0)
      throw new Error(`errors were answered that no operation declares: ${[...new Set(undeclared)].join(', ')}`);
  });

  const anonymous = createCaller(url);

  function toActor(
    body: { employee: { _id: number; email: string; name: string; companyId: number } } & TokenPair,
  ): Actor {
    const { employee, access_token, refresh_token } = body;
    const pair = { access_token, refresh_token };
    return {
      ...createCaller(url, pair),
      pair,
      employeeId: employee._id,
      companyId: employee.companyId,
      email: employee.email,
      name: employee.name,
    };
  }

  async function drain(): Promise<void> {
    await app.services.background.drain();
    await app.worker.drain();
  }

  async function signIn(email: string, companyId?: number): Promise<Actor> {
    const hash = await passwordHash;
    await database.db.updateTable('accounts').set({ password_hash: hash }).where('email', '=', email).execute();
    const { status, body } = await anonymous.post('/login/', {
      email,
      password,
      ...(companyId === undefined ? {} : { company_id: companyId }),
    });
    if (status !== 200) throw new Error(`${email} could not sign in: ${JSON.stringify(body)}`);
    return toActor(body);
  }

  return {
    app,
    url,
    database,
    clock,
    mailbox,
    log: () => lines.join(''),
    anonymous,
    as: (pair) => createCaller(url, pair),
    drain,
    signIn,
    async registerCompany({
      name = 'Analytical Engines',
      email = `admin${(people += 1)}@example.com`,
      firstName = 'Ada',
    } = {}) {
      await anonymous.post('/get-register-otp/', { email });
      await drain();
      const { status, body } = await anonymous.post('/api/create-company-and-employee/', {
        company_name: name,
        email,
        otp: mailbox.lastCode(email),
        first_name: firstName,
        last_name: 'Lovelace',
      });
      if (status !== 200) throw new Error(`${name} could not be registered: ${JSON.stringify(body)}`);
      return toActor(body);
    },
    async addEmployee(admin, { isTeamLeader, isAdmin, ...employee } = {}) {
      people += 1;
      const email = employee.email ?? `person${people}@example.com`;
      const added = await admin.post('/employee/add/', {
        first_name: 'Grace',
        last_name: `Hopper${people}`,
        companyId: admin.companyId,
        ...employee,
        email,
      });
      if (added.status !== 200) throw new Error(`${email} could not be added: ${JSON.stringify(added.body)}`);
      if (isTeamLeader === true || isAdmin === true)
        await admin.patch(`/api/employees/${added.body._id}/`, { isTeamLeader, isAdmin });
      await acceptInvitation(database, { companyId: admin.companyId, email, now: clock.now() });
      return signIn(email, admin.companyId);
    },
  };
}
