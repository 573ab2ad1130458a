import Fastify from 'fastify';
import { fastifyTRPCOpenApiPlugin, type CreateOpenApiFastifyPluginOptions } from 'trpc-to-openapi';
import { requestInfo } from '../../../server/surfaces/http/request-info.ts';
import { appRouter, type AppRouter } from '../../../server/router.ts';
import { createService } from './parts.ts';
import { tellReady } from './side.ts';

/* The same router behind the stock plugin of trpc-to-openapi: the cost of REST without native routes. */

const { services } = await createService();
const app = Fastify({ routerOptions: { maxParamLength: 5_000 } });
const options: CreateOpenApiFastifyPluginOptions<AppRouter> = {
  basePath: '/',
  router: appRouter,
  createContext: ({ req, res }) => ({
    services,
    request: requestInfo(req, { header: (name, value) => res.header(name, value) }),
  }),
};
await app.register(fastifyTRPCOpenApiPlugin, options);
tellReady(await app.listen({ port: 0, host: '127.0.0.1' }));
