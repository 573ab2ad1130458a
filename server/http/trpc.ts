import type { AnyTRPCRouter } from '@trpc/server';
import { fastifyTRPCPlugin, type FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify';
import type { FastifyInstance } from 'fastify';
import type { Services } from '../kernel/context.ts';
import { toFaultError } from '../kernel/faults.ts';
import { requestInfo } from './request-info.ts';

/** The most calls that one HTTP request may carry. */
const batchMax = 50;

/** The same operations for TypeScript clients, at /trpc. */
export async function registerTrpc(app: FastifyInstance, router: AnyTRPCRouter, services: Services): Promise<void> {
  const options: FastifyTRPCPluginOptions<AnyTRPCRouter> = {
    prefix: '/trpc',
    trpcOptions: {
      router,
      maxBatchSize: batchMax,
      createContext: ({ req, res }) => ({ services, request: requestInfo(req, res) }),
      onError({ error, path, req }) {
        const refusal = toFaultError(error);
        if (refusal.fault.status >= 500)
          req.log.error({ err: refusal.cause ?? refusal, code: refusal.fault.code, operation: path }, 'request failed');
      },
      responseMeta: ({ errors }) => {
        const seconds = errors.map((error) => toFaultError(error).retryAfterSeconds ?? 0);
        const longest = Math.max(0, ...seconds);
        return longest === 0 ? {} : { headers: { 'Retry-After': String(longest) } };
      },
    },
  };
  await app.register(fastifyTRPCPlugin, options);
}
