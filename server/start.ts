import { closeSync, existsSync, openSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { closeFolder, holdFolder, type HeldFolder } from '../db/data-folder.ts';
import { openEmbedded, openServer, type Database } from '../db/open.ts';
import { migrate } from '../db/migrate.ts';
import { secureTables } from '../db/row-security.ts';
import { createApp, type App } from './app.ts';
import { CannotStart, toCannotStart } from './cannot-start.ts';
import type { Config } from './config.ts';
import { findDemoSignIn, readDemoSignIn, seedDemo, type DemoSignIn } from './demo/demo.ts';
import type { Clock } from './kernel/context.ts';
import { createIdentityProvider } from './kernel/identity-provider.ts';
import { createLimits } from './kernel/limits.ts';
import { createRedisBus } from './kernel/redis-bus.ts';
import { closeRedis, firstContact, openRedis } from './kernel/redis.ts';
import { createTokens, type Tokens } from './kernel/tokens.ts';
import { keepKeys, keysFile } from './keys.ts';
import type { Logger } from './log.ts';
import { createFileMailer } from './mail/file-mailer.ts';
import type { Mailer } from './mail/mailer.ts';
import { createSendGridMailer } from './mail/sendgrid-mailer.ts';

export type Running = {
  /** Where it listens, as a program on this machine reaches it. */
  url: string;
  /** Where operators find /metrics, where that has a port of its own. */
  opsUrl: string | undefined;
  docsUrl: string;
  publicUrl: string;
  /** The database server, without its password; undefined for the embedded database. */
  databaseServer: string | undefined;
  dataFolder: string;
  /** Undefined where mail is really sent. */
  mailFile: string | undefined;
  /** The page for a first look, where it is served. */
  demoPage: string | undefined;
  demo: DemoSignIn | undefined;
  /** Takes nothing new, finishes what has begun, and lets go of everything. */
  stop(): Promise<void>;
};

const clock: Clock = { now: () => new Date() };

/** Brings the service up by its settings. What stands in the way is thrown as a {@link CannotStart}. */
export async function start(config: Config, logger: Logger): Promise<Running> {
  const dataFolder = resolve(config.DATA_DIR);
  let database: Database | undefined;
  let held: HeldFolder | undefined;
  try {
    tellOfOpenFolder(closeFolder(dataFolder), dataFolder, logger);
    // All that can be damaged is looked at before anything is made or changed.
    if (config.DATABASE_URL === undefined) held = holdFolder(dataFolder);
    readDemoSignIn(demoFile(dataFolder));
    requireWritable(mailFileOf(config, dataFolder));
    const tokens = await loadTokens(config, dataFolder);
    database = await openDatabase(config, held ?? dataFolder, logger);
    await migrate(database.owner.db);
    if (config.DATABASE_ROW_SECURITY) await secureTables(database.owner.db);
    return await startOn(database, { tokens, dataFolder, config, logger });
  } catch (error) {
    await database?.close().catch(() => {});
    if (database === undefined) held?.release();
    throw toCannotStart(error, config);
  }
}

function tellOfOpenFolder(found: ReturnType<typeof closeFolder>, folder: string, logger: Logger): void {
  if (found === undefined) return;
  const fields = { folder, mode: found.mode.toString(8) };
  if (found.isClosed) logger.warn(fields, 'the data folder was open to other users: its mode is 700 now');
  else logger.warn(fields, 'the data folder is open to other users, and its mode could not be set to 700');
}

const demoFile = (folder: string): string => join(folder, 'demo-sign-in.json');

function mailFileOf({ SENDGRID_API_KEY: key }: Config, folder: string): string | undefined {
  return key === undefined ? join(folder, 'mail.jsonl') : undefined;
}

/** Where mail goes to a file, it must be one: noticed now, not when somebody waits for a code. */
function requireWritable(file: string | undefined): void {
  if (file === undefined || !existsSync(file)) return;
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new CannotStart(
      `Mail cannot be written to ${file} (${reasonOf(error)}): make it a file that this user may write, or set SENDGRID_API_KEY.`,
    );
  }
}

export async function openDatabase(
  {
    DATABASE_URL: url,
    DATABASE_CONNECTIONS: connectionsMax,
    DATABASE_READ_LANES: readLanes,
    DATABASE_ROW_SECURITY: rowSecurity,
  }: Config,
  folder: string | HeldFolder,
  logger?: Logger,
): Promise<Database> {
  if (url === undefined) return openEmbedded({ folder, rowSecurity });
  const database = openServer(url, {
    connectionsMax,
    readLanes,
    rowSecurity,
    onWrite: (statement) => logger?.error({ statement }, 'a statement was sent as a read, but it writes'),
  });
  await database.ping().catch((error: unknown) => {
    throw new CannotStart(
      `The database at ${nameOf(url)} does not answer (${reasonOf(error)}): ` +
        'check DATABASE_URL, and that the server runs and lets this user in.',
    );
  });
  return database;
}

async function startOn(
  database: Database,
  { tokens, dataFolder, config, logger }: { tokens: Tokens; dataFolder: string; config: Config; logger: Logger },
): Promise<Running> {
  const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, logger);
  if (redis) await firstContact(redis);
  const bus = redis ? createRedisBus(redis) : database.bus;

  const port = config.PORT === 0 ? await findFreePort(config.HOST) : config.PORT;
  const url = `http://${reachable(config.HOST)}:${port}`;
  const publicUrl = config.PUBLIC_URL ?? url;
  const demoPage = isDemoOn(config) ? `${publicUrl}/demo/` : undefined;
  const mailFile = mailFileOf(config, dataFolder);
  const app = await createApp({
    database,
    bus,
    clock,
    logger,
    tokens,
    mailer: createMailer(config, mailFile, logger),
    limits: createLimits({
      requestsPerMinute: config.RATE_LIMIT_PER_MINUTE,
      requestsPerMinuteOfEmployee: config.RATE_LIMIT_PER_MINUTE_OF_EMPLOYEE,
      requestsPerMinuteOfCompany: config.RATE_LIMIT_PER_MINUTE_OF_COMPANY,
      ...(redis ? { redis } : {}),
    }),
    identityProviders: {
      google: createIdentityProvider(
        { issuer: config.GOOGLE_ISSUER, audiences: config.GOOGLE_CLIENT_IDS, jwksUrl: config.GOOGLE_JWKS_URL },
        clock,
      ),
      apple: createIdentityProvider(
        { issuer: config.APPLE_ISSUER, audiences: config.APPLE_CLIENT_IDS, jwksUrl: config.APPLE_JWKS_URL },
        clock,
      ),
    },
    settings: {
      publicUrl,
      // The page shows by the part after `#` what a link points to.
      appUrl: config.APP_URL ?? (demoPage === undefined ? publicUrl : `${demoPage}#`),
      requireTokenPair: config.AUTH_REQUIRE_TOKEN_PAIR,
      corsOrigins: config.CORS_ORIGINS,
      trustProxy: config.TRUST_PROXY,
      connectionsPerNetwork: config.CONNECTIONS_PER_NETWORK,
      ...(config.OPS_PORT === undefined ? {} : { opsPort: { hasDocs: config.OPS_DOCS } }),
      hasDemoPage: demoPage !== undefined,
    },
  });

  const demo = await prepareDemo(app, config, dataFolder);
  await app.server.listen({ port, host: config.HOST });
  const opsUrl = await listenForOperators(app, config);
  app.worker.start();
  app.sweep.start();
  app.mornings.start();
  return {
    url,
    opsUrl,
    docsUrl: `${config.OPS_DOCS ? (opsUrl ?? url) : url}/docs`,
    publicUrl,
    databaseServer: config.DATABASE_URL === undefined ? undefined : nameOf(config.DATABASE_URL),
    dataFolder,
    mailFile,
    demoPage,
    demo,
    async stop() {
      await app.close();
      await bus.close();
      if (redis) await closeRedis(redis);
      await database.close();
    },
  };
}

async function listenForOperators({ opsServer }: App, config: Config): Promise<string | undefined> {
  if (!opsServer) return undefined;
  const { OPS_PORT: port = 0, OPS_HOST: host } = config;
  try {
    await opsServer.listen({ port, host });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new CannotStart(
      `It is not possible to listen on ${host}:${port} (${code}): set OPS_PORT and OPS_HOST to what is free.`,
    );
  }
  return `http://${reachable(host)}:${(opsServer.server.address() as AddressInfo).port}`;
}

async function loadTokens({ AUTH_KEYS: given }: Config, dataFolder: string): Promise<Tokens> {
  if (given !== undefined)
    return createTokens(given).catch((error: unknown) => {
      const told = error instanceof Error && error.message.startsWith('AUTH_KEYS') ? error.message : undefined;
      throw new CannotStart(
        `Bad setting: ${told ?? 'AUTH_KEYS holds a key that is no Ed25519 private key (make one with `npm run keys`)'}.`,
      );
    });
  const file = keysFile(dataFolder);
  try {
    return await createTokens(await keepKeys(file));
  } catch (error) {
    if (!existsSync(file)) throw error;
    throw new CannotStart(
      `The keys in ${file} cannot be used: restore that file, or delete it and everybody signs in again.`,
    );
  }
}

function createMailer(config: Config, mailFile: string | undefined, logger: Logger): Mailer {
  const { SENDGRID_API_KEY: apiKey, SENDGRID_BASE_URL: baseUrl, MAIL_FROM: from } = config;
  if (mailFile === undefined) return createSendGridMailer({ apiKey: apiKey!, baseUrl, from, clock });
  return createFileMailer(mailFile, clock, logger);
}

async function prepareDemo({ services }: App, config: Config, dataFolder: string): Promise<DemoSignIn | undefined> {
  const file = demoFile(dataFolder);
  if (isDemoOn(config)) await seedDemo(services, file);
  return findDemoSignIn(services, file);
}

function isDemoOn({ SEED_DEMO, NODE_ENV }: Config): boolean {
  return SEED_DEMO ?? NODE_ENV !== 'production';
}

/** The service must know its own address before it listens, for the links that it writes. */
async function findFreePort(host: string): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done, failed) => probe.once('error', failed).listen(0, host, done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}

/** An address to call, for one to listen on. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** A database URL without user and password. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return message === '' || message === undefined ? (code ?? 'no reason given') : message;
}
