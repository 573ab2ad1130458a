import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

const exposed = [
  'X-Request-Id',
  'X-Access-Token',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Idempotency-Replayed',
  // Where an agent in a browser finds what authorises it.
  'WWW-Authenticate',
  // The name of a downloaded file.
  'Content-Disposition',
];
const accepted = [
  'Authorization',
  'X-Refresh-Token',
  'Content-Type',
  'Idempotency-Key',
  'X-Request-Id',
  'Last-Event-ID',
  // tRPC's streamed batches.
  'trpc-accept',
  // Agents in a browser.
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
];

/** Formats directives as a `Content-Security-Policy`. */
const policyOf = (directives: Record<string, string>): string =>
  Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources}`)
    .join(';');

/** Answers of operations are data: a browser that opens one as a page may load and run nothing. */
const dataPolicy = { 'default-src': "'none'", 'frame-ancestors': "'none'", 'base-uri': "'none'" };

/**
 * On every answer: the headers that OWASP recommends for an API, and those that keep pages of other origins away. In
 * lower case, as the server stores names.
 */
export const fixedHeaders = {
  'content-security-policy': policyOf(dataPolicy),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  // Subdomains are left out: other services may run there.
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Answers are personal; cacheable ones set their own header.
  'cache-control': 'no-store',
};

/** A page runs its own files only, calls this service only, and is in no frame. */
const ownPolicy = {
  ...dataPolicy,
  'script-src': "'self'",
  'style-src': "'self'",
  'font-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'form-action': "'none'",
};

/** A script of the reference page sets its styles and pictures. */
export const pagePolicy = policyOf({
  ...ownPolicy,
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
});

/** Older browsers do not include a WebSocket of the same host in `'self'`, so the demo page's is listed. */
export function demoPagePolicy(publicUrl: string): string {
  return policyOf({ ...ownPolicy, 'connect-src': `'self' ${new URL(publicUrl).origin.replace(/^http/, 'ws')}` });
}

export const consentPagePolicy = policyOf(ownPolicy);

/** Tells browsers which origins may call, and to use the declared media types. */
export async function registerSecurity(
  app: FastifyInstance,
  { corsOrigins }: { corsOrigins: string[] },
): Promise<void> {
  app.addHook('onRequest', (request, reply, done) => {
    const { policy } = request.routeOptions.config;
    reply.headers(fixedHeaders);
    if (policy !== undefined) reply.header('content-security-policy', policy);
    done();
  });
  if (corsOrigins.length === 0) return;
  await app.register(cors, {
    origin: corsOrigins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: accepted,
    exposedHeaders: exposed,
    maxAge: 600,
    // An OPTIONS that is no preflight is answered as on any other path.
    strictPreflight: false,
    preflightContinue: true,
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The Content-Security-Policy of a page; answers that are data have a stricter one. */
    policy?: string;
  }
}
