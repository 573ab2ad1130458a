import { isIP } from 'node:net';
import type { McpHttpHandler, Server } from '@modelcontextprotocol/server';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FORBIDDEN, INVALID_TOKEN, MALFORMED_REQUEST } from '../../errors/errors.ts';
import { authenticate } from '../../kernel/authentication.ts';
import type { Caller, Services } from '../../kernel/context.ts';
import { proceduresOf } from '../../kernel/definitions.ts';
import { allowedOrigins, refuseStrangeOrigin } from '../http/origins.ts';
import { authenticateCaller, requestInfo } from '../http/request-info.ts';
import { challenge } from '../oauth/challenge.ts';
import type { Agent } from './agent.ts';
import { toolsOf } from './tools.ts';

/** The Model Context Protocol at /mcp, for agents with an API key: tools over the same operations as everywhere. */
export function registerMcp(
  app: FastifyInstance,
  router: AnyTRPCRouter,
  services: Services,
  options: MountOptions,
): void {
  const tools = new Map(toolsOf(router).map((tool) => [tool.name as string, tool]));
  const procedures = proceduresOf(router);
  mountMcp(app, services, options, async (holder, request) => {
    const { serverFor } = await import('./server.ts');
    return serverFor(tools, { agent: { services, procedures, ...holder }, log: request });
  });
}

/** The addresses that are this service's own, and the pages that may connect beside its own. */
type MountOptions = { corsOrigins: string[]; publicUrl: string };
/** The person whose key an agent sends, in one request. */
type Holder = Pick<Agent, 'request' | 'membership' | 'scopes'>;

/**
 * Answers each request at /mcp by a server made for it alone, so any node can answer it; the protocol's library speaks the
 * versions from 2025 on.
 */
export function mountMcp(
  app: FastifyInstance,
  services: Services,
  options: MountOptions,
  serverOf: (holder: Holder, request: FastifyRequest) => Server | Promise<Server>,
): void {
  const origins = allowedOrigins(options);
  const ownHosts = new Set(['localhost', new URL(options.publicUrl).hostname]);
  let handler: Promise<McpHttpHandler> | undefined;

  async function answer(request: FastifyRequest, reply: FastifyReply) {
    const holder = await holderOf(request, reply, services);
    if (Array.isArray(request.body)) throw MALFORMED_REQUEST({ detail: 'Send one message in each request.' });
    const open = () => serverOf(holder, request);
    const authInfo = { token: '', clientId: '', scopes: [...holder.scopes], extra: { open } };
    return (await (handler ??= createHandler(services))).fetch(toWebRequest(request), {
      authInfo,
      parsedBody: request.body,
    });
  }

  app.post('/mcp', {
    config: {
      challenge: ({ headers }) => challenge(options, { hasToken: headers.authorization !== undefined }),
    },
    onRequest: (request, reply, done) => {
      try {
        refuseStrangeOrigin(request.headers.origin, origins);
        refuseStrangeHost(request.headers.host, ownHosts);
      } catch (error) {
        return done(error as Error);
      }
      request.info = { ...requestInfo(request, reply), transport: 'mcp' };
      return void authenticateCaller(request, reply, services, done);
    },
    handler: answer,
  });
}

/** Loads the protocol's library, which a service without agents does without. */
async function createHandler({ log }: Services): Promise<McpHttpHandler> {
  const { createMcpHandler } = await import('@modelcontextprotocol/server');
  return createMcpHandler(({ authInfo }) => (authInfo!.extra!['open'] as () => Server | Promise<Server>)(), {
    maxSubscriptions: 0,
    onerror: (error) => log.info({ err: error }, 'an agent sent what is no call'),
  });
}

/** The holder of the API key; a body that arrived late is answered to one who still has it. */
async function holderOf(request: FastifyRequest, reply: FastifyReply, services: Services): Promise<Holder> {
  const info = requestInfo(request, reply);
  const caller: Caller = info.caller ?? (await authenticate({ services, request: info }));
  const { credential, membership } = caller;
  if (credential.kind !== 'apiKey' || !membership)
    throw INVALID_TOKEN({ detail: 'Agents send an API key of the company.' });
  return { request: { ...info, caller }, membership, scopes: credential.scopes };
}

/** With DNS rebinding a page reaches the service by a name of its own. */
function refuseStrangeHost(host: string | undefined, ownHosts: ReadonlySet<string>): void {
  const { hostname } = URL.parse(`http://${host}`) ?? { hostname: '' };
  if (ownHosts.has(hostname) || isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0) return;
  throw FORBIDDEN({ detail: 'This service has another name: see PUBLIC_URL.' });
}

function toWebRequest({ headers, method, url }: FastifyRequest): Request {
  const named = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return new Request(`http://localhost${url}`, { method, headers: named });
}
