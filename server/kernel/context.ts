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
import type { OutboundAddresses } from '../platform/outbound-addresses.ts';
import type { Passwords } from '../platform/passwords.ts';
import type { Audit } from './audit.ts';
import type { Transport } from './audit-log.ts';
import type { Streams } from './streams.ts';
import type { Tokens } from '../platform/tokens.ts';

/** Addresses and switches that operations use. */
export type Settings = {
  /** The address of this service, without a trailing slash. */
  publicUrl: string;
  /** The frontend that links point to, without a trailing slash. */
  appUrl: string;
  requireTokenPair: boolean;
};

/** The services that operations use. Tests replace the clock and the database, and nothing else. */
export type Services = {
  /**
   * Statements on `database.db` are committed even if the mutation that sends them fails; see {@link MutationScope}.
   * They see rows of no company; for a company's rows use `database.forCompany`.
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
  audit: Audit;
  /** The event streams and their subscribers. */
  streams: Streams;
  connections: Connections;
  /** Wakes the worker: a job was enqueued. */
  wakeWorker(): void;
  /** Wakes what delivers to webhooks: a message is due. */
  wakeWebhooks(): void;
  /** The addresses that requests to URLs of callers may reach. */
  outbound: OutboundAddresses;
  /** The addresses from which documents of OAuth clients are fetched, for callers who have not signed in. */
  clientDocuments: OutboundAddresses;
  /** Called with an API error that the operation does not list; tests fail on it. */
  onUndeclaredError(operation: string, code: string): void;
};

/** One request, over any transport. */
export type RequestInfo = {
  id: string;
  transport: Exclude<Transport, 'job'>;
  /** The caller's address, as reported by trusted proxies; IPv6 by its /64. */
  network: string;
  userAgent: string | null;
  bearer: string | undefined;
  refreshToken: string | undefined;
  idempotencyKey: string | undefined;
  setHeader(name: string, value: string): void;
  /** Called when the request is authenticated. */
  noteAuthenticated(): void;
  /** Its token pair was authenticated before: for an earlier call of its WebSocket, or before its body was read. */
  wasAuthenticated?: true;
  /** The caller, if authenticated before the body was read. */
  caller?: Caller;
  /** Only the headers of the answer are asked for, so no file is taken. */
  isHead?: boolean;
  /** Whether the transport can answer a file; see download.ts. */
  acceptsDownloads?: true;
  /** Whether the transport can send an answer in pieces; see json-stream.ts. */
  acceptsStreams?: true;
  /** The connection that a subscription uses; undefined for a request with one answer. */
  connection?: Connection;
};

export type Context = { services: Services; request: RequestInfo };

/** The holder of a valid credential, before the operation authorizes them. */
export type Caller = { credential: Credential; membership: Membership | null };

/** The holder of an account, in a session of their own, possibly without a company. */
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
  /** Its company is closed: it is read, and not changed. */
  isClosed: boolean;
};

/** An employee who calls. Only `accountOf` reaches their account; it refuses bound sessions and keys. */
export type Member = Membership & { credential: Credential };

/**
 * The database as the body of an operation sees it: `db` is the mutation's one transaction, or the plain handle in a
 * query. A mutation that must store something although it fails (a failed attempt) writes it through
 * `services.database.db` before its first statement on `db`: the embedded database has one connection.
 */
export type MutationScope = {
  db: Db;
  /**
   * Runs the last statements of the mutation as `inOrder` does, with COMMIT right behind them. A further statement is
   * refused. The body must not throw afterwards, because its effect is committed.
   */
  finish<const Answers extends readonly unknown[]>(steps: Steps<Answers>): Promise<Answers>;
  /** Runs after the commit, and never after a rollback. */
  afterCommit(task: () => void): void;
};
