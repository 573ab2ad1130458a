import type { FastifyInstance } from 'fastify';
import type { Bus } from '../db/bus.ts';
import type { Database } from '../db/open.ts';
import { createMornings, type Mornings } from './delivery/mornings.ts';
import { reactions } from './delivery/reactions.ts';
import { createSweep, type Sweep } from './delivery/sweep.ts';
import { createTail } from './delivery/tail.ts';
import { createWorker, type Worker } from './delivery/worker.ts';
import { createShell } from './http/app-shell.ts';
import { registerDemoPage } from './http/demo.ts';
import { registerDocs } from './http/docs.ts';
import { registerWebSocket } from './http/events/websocket.ts';
import { registerHealth } from './http/health.ts';
import { registerMetrics } from './http/metrics.ts';
import { registerPictures } from './http/pictures.ts';
import { registerRest } from './http/rest.ts';
import { registerTrpc } from './http/trpc.ts';
import { createBackground } from './kernel/background.ts';
import { createConnections } from './kernel/connections.ts';
import type { Clock, Services, Settings } from './kernel/context.ts';
import { createCredentials } from './kernel/credentials.ts';
import type { IdentityProviders } from './kernel/identity-provider.ts';
import type { Limits } from './kernel/limits.ts';
import { createPasswords } from './kernel/passwords.ts';
import type { Tokens } from './kernel/tokens.ts';
import type { Logger } from './log.ts';
import type { Mailer } from './mail/mailer.ts';
import { appRouter } from './router.ts';

/** What the service is wired from; tests replace these and nothing else. */
export type AppParts = {
  database: Database;
  /** Wakes the other nodes; the database's own where left out. */
  bus?: Bus;
  clock: Clock;
  mailer: Mailer;
  tokens: Tokens;
  limits: Limits;
  identityProviders: IdentityProviders;
  settings: Settings & {
    corsOrigins: string[];
    trustProxy: string[];
    /** Connections of one network on which nobody has shown who they are, at most; any number where left out. */
    connectionsPerNetwork?: number;
    /** A server of its own for /metrics, which the public does not reach, and for the reference where that says so. */
    opsPort?: { hasDocs: boolean };
    /** Whether the demo page is served. */
    hasDemoPage?: boolean;
  };
  logger: Logger;
  onUndeclaredFault?: Services['onUndeclaredFault'];
};

export type App = {
  server: FastifyInstance;
  /** For operators alone, where the settings ask for it. */
  opsServer: FastifyInstance | undefined;
  worker: Worker;
  sweep: Sweep;
  mornings: Mornings;
  services: Services;
  /** Finishes what has begun: open requests, work behind answers, due deliveries. The database stays open. */
  close(): Promise<void>;
};

/** Wires the service. It listens nowhere and reads no environment. */
export async function createApp(parts: AppParts): Promise<App> {
  const { database, clock, mailer, tokens, limits, identityProviders, settings, logger } = parts;
  const background = createBackground(logger);
  const connections = createConnections();
  const tail = createTail({ database, clock, log: logger, settings, connections, bus: parts.bus ?? database.bus });
  const worker = createWorker(
    {
      database,
      clock,
      log: logger,
      settings,
      tokens,
      mailer,
      streams: tail,
      wakeDeliveries: () => worker.wake(),
    },
    reactions,
  );
  const sweep = createSweep({ database, clock, log: logger });
  const wakeDeliveries = () => worker.wake();
  const mornings = createMornings({ database, clock, log: logger, wakeDeliveries });
  const services: Services = {
    database,
    clock,
    log: logger,
    settings,
    tokens,
    credentials: createCredentials({ database, clock, background }),
    passwords: createPasswords(),
    limits,
    identityProviders,
    background,
    streams: tail,
    connections,
    wakeDeliveries,
    onUndeclaredFault:
      parts.onUndeclaredFault ??
      ((operation, code) => logger.error({ operation, code }, 'an undeclared fault was answered')),
  };

  const { server, isClosing, countRefusedConnections, readBody, refuseOtherMethods } = await createShell({
    logger,
    trustProxy: settings.trustProxy.length === 0 ? false : settings.trustProxy,
    corsOrigins: settings.corsOrigins,
    connectionsPerNetwork: settings.connectionsPerNetwork,
  });
  const ops = settings.opsPort && (await createShell({ logger, trustProxy: false, corsOrigins: [] }));
  registerMetrics(server, appRouter, { ...services, worker, countRefusedConnections }, ops?.server ?? server);
  if (ops) registerHealth(ops.server, { database, isClosing });
  registerHealth(server, { database, isClosing });
  registerRest(server, appRouter, services);
  registerPictures(server, services);
  await registerTrpc(server, appRouter, services, { readBody });
  await registerWebSocket(server, appRouter, services, settings);
  registerDocs(ops && settings.opsPort?.hasDocs === true ? ops.server : server, appRouter, settings.publicUrl);
  if (settings.hasDemoPage === true) registerDemoPage(server, settings);
  refuseOtherMethods();
  ops?.refuseOtherMethods();
  tail.start();

  return {
    server,
    opsServer: ops?.server,
    worker,
    sweep,
    mornings,
    services,
    async close() {
      await server.close();
      // What a shutdown does can be watched to its end.
      await ops?.server.close();
      await background.drain();
      await Promise.all([worker.stop(), sweep.stop(), mornings.stop(), tail.stop()]);
    },
  };
}
