import type { Database, Db } from '../../db/open.ts';
import type { Background } from './background.ts';
import type { Connection, Connections } from './connections.ts';
import type { Credentials } from './credentials.ts';
import type { IdentityProviders } from './identity-provider.ts';
import type { Limits } from './limits.ts';
import type { Passwords } from './passwords.ts';
import type { Streams } from './streams.ts';
import type { Tokens } from './tokens.ts';

export type Clock = { now(): Date };

export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** Addresses and switches that operations need to know. */
export type Settings = {
  /** Where this service is reached, without a trailing slash. */
  publicUrl: string;
  /** The frontend that links point to, without a trailing slash. */
  appUrl: string;
  requireTokenPair: boolean;
};

/** What operations are given to work with. Tests replace the clock and the database, and nothing else. */
export type Services = {
  /**
   * Statements on `database.db` are kept even when the mutation that sends them fails; see {@link MutationScope}. They see
   * what belongs to no company: a company's rows are reached by `database.forCompany`.
   */
  database: Database;
  clock: Clock;
  log: Log;
  settings: Settings;
  tokens: Tokens;
  credentials: Credentials;
  passwords: Passwords;
  identityProviders: IdentityProviders;
  limits: Limits;
  background: Background;
  /** Facts on their way to those who listen. */
  streams: Streams;
  connections: Connections;
  /** Tells the delivery worker that there is something new to do. */
  wakeDeliveries(): void;
  /** Told of a fault that the operation does not list; tests fail on it. */
  onUndeclaredFault(operation: string, code: string): void;
};

/** One request, whichever door it came through. */
export type RequestInfo = {
  id: string;
  /** The caller's address, as far as the trusted proxies vouch for it; IPv6 by its /64. */
  network: string;
  userAgent: string | null;
  bearer: string | undefined;
  refreshToken: string | undefined;
  idempotencyKey: string | undefined;
  setHeader(name: string, value: string): void;
  /** Told that its caller has shown who they are. */
  noteProof(): void;
  /** Who is calling, where that was found out before the body was read. */
  caller?: Caller | undefined;
  /** Whether a file can be answered; see download.ts. */
  takesDownloads?: true;
  /** Whether an answer can be sent while it is made; see json-stream.ts. */
  takesStreams?: true;
  /** The connection that a subscription lasts on; a request that is answered at once has none. */
  connection?: Connection;
};

export type Context = { services: Services; request: RequestInfo };

/** What an API key may be used for. */
export const scopes = ['read', 'write', 'login'] as const;
export type Scope = (typeof scopes)[number];

/**
 * How the caller proved who they are. Only a session of their own has an account: one that a company's API key opened
 * is bound to an employee of that company, and neither it nor a key reaches what belongs to the account.
 */
export type Credential =
  | { kind: 'session'; sessionId: number; accountId: number }
  | { kind: 'boundSession'; sessionId: number }
  | { kind: 'apiKey'; apiKeyId: number; scopes: Scope[] };

/** Whoever holds a good credential, before an operation says whether they may call it. */
export type Caller = { credential: Credential; membership: Membership | null };

/** The holder of an account, in a session of their own, perhaps with no company yet. */
export type AccountHolder = {
  accountId: number;
  sessionId: number;
  credential: Credential;
  membership: Membership | null;
};

/** An active employee of an active company. */
export type Membership = {
  companyId: number;
  employeeId: number;
  isAdmin: boolean;
  isTeamLeader: boolean;
};

/** An employee who calls. Their account is reached through `accountOf` alone, which refuses bound sessions and keys. */
export type Member = Membership & { credential: Credential };

/**
 * What a body sees of the database: `db` is the mutation's one transaction, or the plain handle in a query.
 * A mutation that must keep something although it fails (a counted wrong try) writes it through
 * `services.database.db` before its first statement on `db`: the embedded database has one connection.
 */
export type MutationScope = {
  db: Db;
  /**
   * Runs the last statements of the mutation with COMMIT right behind them. `send` asks for all of them before it first
   * waits, and the body refuses nothing after it: by then it is done.
   */
  finish<Answer>(send: () => Promise<Answer>): Promise<Answer>;
  /** Runs when the transaction has committed, and not at all when it has not. */
  afterCommit(task: () => void): void;
};
