import type { FastifyInstance } from 'fastify';
import type { Bus } from '../db/bus.ts';
import type { Database } from '../db/open.ts';
import { createAuditSealer, type AuditSealer } from './jobs/audit-seals.ts';
import { createMornings, type Mornings } from './jobs/mornings.ts';
import { handlers } from './jobs/handlers.ts';
import { createSweep, type Sweep } from './jobs/sweep.ts';
import { createTableStatistics } from './jobs/table-statistics.ts';
import { createDispatcher } from './events/dispatcher.ts';
import { createWorker, type Worker } from './jobs/worker.ts';
import { createWebhookWorker, type WebhookWorker } from './webhooks/worker.ts';
import { createShell } from './surfaces/http/app-shell.ts';
import { registerDemoPage } from './surfaces/docs/demo.ts';
import { registerDocs } from './surfaces/docs/docs.ts';
import { registerMcp } from './surfaces/mcp/mcp.ts';
import { registerWebSocket } from './surfaces/realtime/websocket.ts';
import { registerHealth } from './surfaces/ops/health.ts';
import { registerMetrics } from './surfaces/ops/metrics.ts';
import { registerOAuth } from './surfaces/oauth/oauth.ts';
import { registerExports } from './surfaces/rest/exports.ts';
import { registerPictures } from './surfaces/rest/pictures.ts';
import { registerRest } from './surfaces/rest/rest.ts';
import { registerTrpc } from './surfaces/trpc/trpc.ts';
import { createRefusals } from './kernel/audit-refusals.ts';
import { createFindAddress, createFindSubject } from './kernel/audit-subjects.ts';
import { createBackground } from './platform/background.ts';
import { createConnections } from './platform/connections.ts';
import type { Services, Settings } from './kernel/context.ts';
import type { Clock } from './platform/clock.ts';
import { createCredentials } from './kernel/credentials.ts';
import type { IdentityProviders } from './platform/identity-provider.ts';
import type { PeriodicTask } from './platform/periodic-task.ts';
import { createOutboundAddresses, type ResolveName } from './platform/outbound-addresses.ts';
import type { Limits } from './platform/rate-limits.ts';
import { createPasswords, type HashCost } from './platform/passwords.ts';
import type { Tokens } from './platform/tokens.ts';
import type { Logger } from './platform/log.ts';
import type { Mailer } from './mail/mailer.ts';
import { appRouter } from './router.ts';

/** The parts that the service is built from; tests replace these and nothing else. */
export type AppParts = {
  database: Database;
  /** Notifies the other nodes; the database's own bus by default. */
  bus?: Bus;
  clock: Clock;
  mailer: Mailer;
  tokens: Tokens;
  /** What a hash of a password takes; as OWASP recommends by default. */
  hashCost?: HashCost;
  limits: Limits;
  identityProviders: IdentityProviders;
  settings: Settings & {
    corsOrigins: string[];
    trustProxy: string[];
    /** The most unauthenticated connections of one network; unlimited by default. */
    connectionsPerNetwork?: number;
    /** A separate server for /metrics, not reachable by the public, and also for the reference if it says so. */
    opsPort?: { hasDocs: boolean };
    /** Networks that are not public and that webhooks may lead to. */
    webhookNetworks?: string[];
    /** Networks that are not public and that have documents of OAuth clients; none but in tests. */
    clientDocumentNetworks?: string[];
    /** Rows of the audit log are kept for so many days; for ever by default. */
    auditRetentionDays?: number;
    /** Whether the demo page is served. */
    hasDemoPage?: boolean;
  };
  logger: Logger;
  /** Finds the addresses of the hosts of webhooks; the name servers of the machine by default. */
  resolveName?: ResolveName;
  /** Whether Redis answers; left out where there is none. */
  isRedisUp?: () => boolean;
  onUndeclaredError?: Services['onUndeclaredError'];
};

export type App = {
  server: FastifyInstance;
  /** For operators only, if the settings ask for it. */
  opsServer: FastifyInstance | undefined;
  worker: Worker;
  webhookWorker: WebhookWorker;
  sweep: Sweep;
  tableStatistics: PeriodicTask;
  mornings: Mornings;
  auditSealer: AuditSealer;
  services: Services;
  /** Finishes open requests, background work and due jobs. The database stays open. */
  close(): Promise<void>;
};

/** Builds the service. It does not listen and reads no environment. */
export async function createApp(parts: AppParts): Promise<App> {
  const { database, logger, settings } = parts;
  const { services, worker, webhookWorker, dispatcher } = createServices(parts);
  const sweep = createSweep({
    ...services,
    auditRetentionDays: settings.auditRetentionDays,
  });
  const tableStatistics = createTableStatistics({ database, log: logger });
  const mornings = createMornings(services);
  const auditSealer = createAuditSealer(services);
  const { server, opsServer } = await createServers(parts, services, { worker, webhookWorker });
  dispatcher.start();
  return {
    server,
    opsServer,
    worker,
    webhookWorker,
    sweep,
    tableStatistics,
    mornings,
    auditSealer,
    services,
    async close() {
      await server.close();
      // The metrics stay readable until the end of a shutdown.
      await opsServer?.close();
      await services.background.drain();
      await services.audit.refusals.flush();
      const parallel = [worker, webhookWorker, sweep, tableStatistics, mornings, auditSealer, dispatcher];
      await Promise.all(parallel.map((one) => one.stop()));
    },
  };
}

/** The services of operations and job handlers. */
function createServices(parts: AppParts) {
  const { database, clock, tokens, limits, identityProviders, settings, logger: log, mailer } = parts;
  const background = createBackground(log);
  const connections = createConnections();
  const dispatcher = createDispatcher({ database, clock, log, settings, connections, bus: parts.bus ?? database.bus });
  const wakeWorker = () => worker.wake();
  const wakeWebhooks = () => webhookWorker.wake();
  const addressesWith = (allowedNetworks: string[] | undefined) =>
    createOutboundAddresses({ allowedNetworks, resolveName: parts.resolveName });
  const outbound = addressesWith(settings.webhookNetworks);
  const shared = { database, clock, log, settings, tokens, outbound, streams: dispatcher, wakeWorker, wakeWebhooks };
  const worker: Worker = createWorker({ ...shared, mailer }, handlers);
  const webhookWorker: WebhookWorker = createWebhookWorker(shared);
  const services: Services = {
    ...shared,
    clientDocuments: addressesWith(settings.clientDocumentNetworks),
    credentials: createCredentials({ database, clock, background }),
    passwords: createPasswords(parts.hashCost),
    limits,
    identityProviders,
    background,
    audit: {
      findSubject: createFindSubject(appRouter),
      findAddress: createFindAddress(appRouter),
      refusals: createRefusals({ database, log }),
    },
    connections,
    onUndeclaredError:
      parts.onUndeclaredError ??
      ((operation, code) => log.error({ operation, code }, 'an undeclared error was answered')),
  };
  return { services, worker, webhookWorker, dispatcher };
}

/** The public HTTP server with all surfaces, and a separate one for operators if the settings ask for it. */
async function createServers(
  { settings, logger, isRedisUp }: AppParts,
  services: Services,
  workers: Pick<App, 'worker' | 'webhookWorker'>,
) {
  const { database } = services;
  const { server, isClosing, countRefusedConnections, readBody, refuseOtherMethods } = await createShell({
    logger,
    trustProxy: settings.trustProxy.length === 0 ? false : settings.trustProxy,
    corsOrigins: settings.corsOrigins,
    connectionsPerNetwork: settings.connectionsPerNetwork,
  });
  const ops = settings.opsPort && (await createShell({ logger, trustProxy: false, corsOrigins: [] }));
  const measured = { ...services, ...workers, countRefusedConnections, isRedisUp };
  registerMetrics(server, appRouter, measured, ops?.server ?? server);
  if (ops) registerHealth(ops.server, { database, isClosing });
  registerHealth(server, { database, isClosing });
  registerRest(server, appRouter, services);
  registerPictures(server, services);
  registerExports(server, services);
  await registerOAuth(server, services, { readBody });
  await registerTrpc(server, appRouter, services, { readBody });
  await registerWebSocket(server, appRouter, services, settings);
  registerMcp(server, appRouter, services, settings);
  registerDocs(ops && settings.opsPort?.hasDocs === true ? ops.server : server, appRouter, settings.publicUrl);
  if (settings.hasDemoPage === true) registerDemoPage(server, settings);
  refuseOtherMethods();
  ops?.refuseOtherMethods();
  return { server, opsServer: ops?.server };
}
