import { proceduresOf } from '../../kernel/definitions.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import type { Services } from '../../kernel/context.ts';
import { registerGauge } from './gauge.ts';
import { registerJobMetrics, type MeasuredJobs } from './job-metrics.ts';
import { registerReplicaMetrics } from './replica-metrics.ts';
import { registerWebhookMetrics, type MeasuredWebhooks } from './webhook-metrics.ts';
import { calledPaths } from '../trpc/trpc-answers.ts';

type Measured = MeasuredJobs &
  MeasuredWebhooks &
  Pick<Services, 'connections' | 'database' | 'streams'> & {
    countRefusedConnections(): number;
    isRedisUp: (() => boolean) | undefined;
  };

/** Metrics of the process, for all apps in it: prom-client never ends the observer and the timer that these need. */
const processRegistry = new Registry();

/**
 * Measures the answers of `app`, and serves the metrics for Prometheus at `/metrics` of `served`. Each app has a
 * separate registry, because tests start many.
 */
export function registerMetrics(
  app: FastifyInstance,
  router: AnyTRPCRouter,
  services: Measured,
  served: FastifyInstance,
): void {
  const registry = new Registry();
  if (processRegistry.getMetricsAsArray().length === 0) collectDefaultMetrics({ register: processRegistry });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer',
    labelNames: ['operation', 'method', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const procedures = new Set(proceduresOf(router).keys());
  app.addHook('onResponse', (request, reply, done) => {
    // The duration of an event stream depends on its reader.
    if (!String(reply.getHeader('content-type')).startsWith('text/event-stream')) {
      const labels = { operation: nameOf(request, procedures), method: request.method, status: reply.statusCode };
      durations.observe(labels, reply.elapsedTime / 1000);
    }
    done();
  });
  registerJobMetrics(registry, services);
  registerWebhookMetrics(registry, services);
  watchConnections(registry, services);
  watchRedis(registry, services);
  registerReplicaMetrics(registry, services.database);
  served.get('/metrics', { config: { servesWhileClosing: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send((await processRegistry.metrics()) + (await registry.metrics())),
  );
}

/** Names come from the router only: text from a URL would create a new series each time. */
function nameOf(request: FastifyRequest, procedures: Set<string>): string {
  const { config, url } = request.routeOptions;
  if (config.operation !== undefined) return config.operation;
  const [called, ...others] = calledPaths(request);
  if (called !== undefined && procedures.has(called)) return others.length === 0 ? called : 'batch';
  return url ?? 'unknown path';
}

function watchRedis(registry: Registry, { isRedisUp }: Measured): void {
  const help = '1 where Redis answers, 0 where this node counts limits for itself; without REDIS_URL there is no value';
  registerGauge(registry, 'redis_up', help, () => isRedisUp && Number(isRedisUp()));
}

function watchConnections(registry: Registry, { connections, streams, countRefusedConnections }: Measured): void {
  const gauge = (name: string, help: string, count: () => number) => registerGauge(registry, name, help, count);
  gauge('event_connections', 'WebSockets and streams of events that are open', connections.count);
  gauge('event_subscriptions', 'Subscriptions that run on them', connections.countSubscriptions);
  gauge('event_waiting_bytes', 'What was sent on them and not yet taken', connections.countBufferedBytes);
  const counter = (name: string, help: string, count: () => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(count());
      },
    });
  counter('events_sent_total', 'Events sent to subscribers by this process', streams.countSent);
  counter(
    'connections_refused_total',
    'Connections refused because their network holds too many on which nobody has shown who they are',
    countRefusedConnections,
  );
}
