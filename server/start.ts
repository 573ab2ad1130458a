import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { closeFolder, holdFolder, type HeldFolder } from '../db/data-folder.ts';
import type { Database } from '../db/open.ts';
import { createApp, type App, type AppParts } from './app.ts';
import { appUrlOf, findFreePort, isDemoOn, reachable } from './startup/addresses.ts';
import { CannotStart, toCannotStart } from './startup/cannot-start.ts';
import { loadTokens } from './startup/load-tokens.ts';
import { createMailer, mailFileOf, requireWritable } from './startup/mail.ts';
import { openClock } from './startup/open-clock.ts';
import { nameOf, openDatabase, updateDatabase } from './startup/open-database.ts';
import type { Config } from './config.ts';
import { preparePage } from './surfaces/docs/demo-page.ts';
import { findDemoSignIn, seedDemo } from './demo/demo.ts';
import { readDemoSignIn, type DemoSignIn } from './demo/sign-in-file.ts';
import type { Clock } from './platform/clock.ts';
import { createIdentityProvider, type IdentityProviders } from './platform/identity-provider.ts';
import { createLimits } from './platform/rate-limits.ts';
import { createRedisBus } from './platform/redis-bus.ts';
import type { Tokens } from './platform/tokens.ts';
import type { Logger } from './platform/log.ts';

export type Running = {
  /** Its address for a program on this machine. */
  url: string;
  /** The address of /metrics for operators, if that has a separate port. */
  opsUrl: string | undefined;
  docsUrl: string;
  publicUrl: string;
  /** The database server, without its password; undefined for the embedded database. */
  databaseServer: string | undefined;
  dataFolder: string;
  /** Undefined if mail is really sent. */
  mailFile: string | undefined;
  /** The demo page, if it is served. */
  demoPage: string | undefined;
  demo: DemoSignIn | undefined;
  /** Accepts no new requests, finishes those in progress, and releases everything. */
  stop(): Promise<void>;
};

/** Starts the service by its settings. Obstacles are thrown as {@link CannotStart}. */
export async function start(config: Config, logger: Logger): Promise<Running> {
  const dataFolder = resolve(config.DATA_DIR);
  let database: Database | undefined;
  let held: HeldFolder | undefined;
  try {
    warnOfOpenFolder(closeFolder(dataFolder), dataFolder, logger);
    // Checks everything that may be damaged before creating or changing anything.
    if (config.DATABASE_URL === undefined) held = holdFolder(dataFolder);
    readDemoSignIn(demoFile(dataFolder));
    requireWritable(mailFileOf(config, dataFolder));
    const tokens = await loadTokens(config, dataFolder);
    database = await openDatabase(config, held ?? dataFolder, { logger });
    await updateDatabase(config, database);
    return await startOn(database, { tokens, dataFolder, config, logger });
  } catch (error) {
    await database?.close().catch(() => {});
    if (database === undefined) held?.release();
    throw toCannotStart(error, config);
  }
}

const demoFile = (folder: string): string => join(folder, 'demo-sign-in.json');

async function startOn(
  database: Database,
  { tokens, dataFolder, config, logger }: { tokens: Tokens; dataFolder: string; config: Config; logger: Logger },
): Promise<Running> {
  const clock = await openClock(database, logger);
  const { redis, closeRedis } = (await connectRedis(config, logger)) ?? {};
  const bus = redis ? createRedisBus(redis) : database.bus;

  const port = config.PORT === 0 ? await findFreePort(config.HOST) : config.PORT;
  const url = `http://${reachable(config.HOST)}:${port}`;
  const publicUrl = config.PUBLIC_URL ?? url;
  const demoPage = (await hasDemoPage(config, logger)) ? `${publicUrl}/demo/` : undefined;
  const mailFile = mailFileOf(config, dataFolder);
  const app = await createApp({
    database,
    bus,
    clock,
    logger,
    tokens,
    mailer: await createMailer(config, mailFile, { clock, logger }),
    limits: createLimits({
      requestsPerMinute: config.RATE_LIMIT_PER_MINUTE,
      requestsPerMinuteOfEmployee: config.RATE_LIMIT_PER_MINUTE_OF_EMPLOYEE,
      requestsPerMinuteOfCompany: config.RATE_LIMIT_PER_MINUTE_OF_COMPANY,
      redis,
    }),
    isRedisUp: redis && (() => redis.status === 'ready'),
    identityProviders: createIdentityProviders(config, clock),
    settings: settingsOf(config, { publicUrl, demoPage }),
  });

  const demo = await prepareDemo(app, config, dataFolder);
  await app.server.listen({ port, host: config.HOST });
  const opsUrl = await listenForOperators(app, config);
  clock.start();
  app.worker.start();
  app.webhookWorker.start();
  app.sweep.start();
  app.tableStatistics.start();
  app.mornings.start();
  app.auditSealer.start();
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
      await closeRedis?.();
      await clock.stop();
      await database.close();
    },
  };
}

/** Its client is loaded only where Redis is used. */
async function connectRedis({ REDIS_URL: url }: Config, logger: Logger) {
  if (url === undefined) return undefined;
  const { closeRedis, openRedis, waitUntilReady } = await import('./platform/redis.ts');
  const redis = openRedis(url, logger);
  await waitUntilReady(redis);
  return { redis, closeRedis: () => closeRedis(redis) };
}

function settingsOf(
  config: Config,
  { publicUrl, demoPage }: { publicUrl: string; demoPage: string | undefined },
): AppParts['settings'] {
  return {
    publicUrl,
    appUrl: appUrlOf(config, { publicUrl, hasDemoPage: demoPage !== undefined }),
    requireTokenPair: config.AUTH_REQUIRE_TOKEN_PAIR,
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
    connectionsPerNetwork: config.CONNECTIONS_PER_NETWORK,
    webhookNetworks: config.WEBHOOK_ALLOWED_NETWORKS,
    opsPort: config.OPS_PORT === undefined ? undefined : { hasDocs: config.OPS_DOCS },
    hasDemoPage: demoPage !== undefined,
    auditRetentionDays: config.AUDIT_RETENTION_DAYS,
  };
}

function createIdentityProviders(config: Config, clock: Clock): IdentityProviders {
  const provider = (issuer: string, audiences: string[], jwksUrl: string) =>
    createIdentityProvider({ issuer, audiences, jwksUrl }, clock);
  return {
    google: provider(config.GOOGLE_ISSUER, config.GOOGLE_CLIENT_IDS, config.GOOGLE_JWKS_URL),
    apple: provider(config.APPLE_ISSUER, config.APPLE_CLIENT_IDS, config.APPLE_JWKS_URL),
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

async function prepareDemo({ services }: App, config: Config, dataFolder: string): Promise<DemoSignIn | undefined> {
  const file = demoFile(dataFolder);
  if (isDemoOn(config)) await seedDemo(services, file);
  return findDemoSignIn(services, file);
}

async function hasDemoPage(config: Config, logger: Logger): Promise<boolean> {
  if (!isDemoOn(config)) return false;
  const problem = await preparePage();
  if (problem !== undefined) logger.warn(`the demo page is not served: ${problem}`);
  return problem === undefined;
}

function warnOfOpenFolder(found: ReturnType<typeof closeFolder>, folder: string, logger: Logger): void {
  if (found === undefined) return;
  const fields = { folder, mode: found.mode.toString(8) };
  if (found.isClosed) logger.warn(fields, 'the data folder was open to other users: its mode is 700 now');
  else logger.warn(fields, 'the data folder is open to other users, and its mode could not be set to 700');
}
