import type { Database, Db } from '../../db/open.ts';
import type { Steps } from '../../db/pipeline/in-order.ts';
import type { Background } from '../platform/background.ts';
import type { Connections } from '../platform/connections.ts';
import type { Connection } from '../platform/connection.ts';
import type { Credentials } from './credentials.ts';
import type { IdentityProviders } from '../platform/identity-provider.ts';
import type { Clock } from '../platform/clock.ts';
import type { Credential } from '../platform/credential.ts';
import type { Limits } from '../platform/rate-limits.ts';
import type { Log } from '../platform/log.ts';
import type { Passwords } from '../platform/passwords.ts';
import type { Streams } from './streams.ts';
import type { Tokens } from '../platform/tokens.ts';

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
  /** Wakes the worker: a job was enqueued. */
  wakeWorker(): void;
  /** Told of an API error that the operation does not list; tests fail on it. */
  onUndeclaredError(operation: string, code: string): void;
};

/** One request, whichever door it came through. */
export type RequestInfo = {
  id: string;
  /** The caller's address, as reported by trusted proxies; IPv6 by its /64. */
  network: string;
  userAgent: string | null;
  bearer: string | undefined;
  refreshToken: string | undefined;
  idempotencyKey: string | undefined;
  setHeader(name: string, value: string): void;
  /** Told that its caller has shown who they are. */
  noteAuthenticated(): void;
  /** Who is calling, where that was found out before the body was read. */
  caller?: Caller | undefined;
  /** Whether a file can be answered; see download.ts. */
  acceptsDownloads?: true;
  /** Whether an answer can be sent while it is made; see json-stream.ts. */
  acceptsStreams?: true;
  /** The connection that a subscription lasts on; a request that is answered at once has none. */
  connection?: Connection;
};

export type Context = { services: Services; request: RequestInfo };

/** The holder of a valid credential, before the operation authorizes them. */
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
   * Runs the last statements of the mutation as `inOrder` does, with COMMIT right behind them. A further statement is
   * refused, and the body throws nothing after it: by then its effect is kept.
   */
  finish<const Answers extends readonly unknown[]>(steps: Steps<Answers>): Promise<Answers>;
  /** Runs when the transaction has committed, and not at all when it has not. */
  afterCommit(task: () => void): void;
};
