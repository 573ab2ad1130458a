import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
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
];
const accepted = [
  'Authorization',
  'X-Refresh-Token',
  'Content-Type',
  'Idempotency-Key',
  'X-Request-Id',
  'Last-Event-ID',
];

/** Answers of operations are data: a browser that is made to open one as a page may load and run nothing. */
const dataPolicy = { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"], 'base-uri': ["'none'"] };

/** The reference loads from here only; its styles are set by its script. */
export const pagePolicy = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      ...dataPolicy,
      'script-src': ["'self'"],
      'style-src': ["'self'", "'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
      'form-action': ["'none'"],
    },
  },
};

/**
 * The demo page runs its own files only and talks to this service only. Older browsers do not count a WebSocket to the
 * same place as `'self'`, so it is named.
 */
export function demoPagePolicy(publicUrl: string) {
  return {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        ...dataPolicy,
        'script-src': ["'self'"],
        'style-src': ["'self'"],
        'font-src': ["'self'"],
        'img-src': ["'self'"],
        'connect-src': ["'self'", new URL(publicUrl).origin.replace(/^http/, 'ws')],
        'form-action': ["'none'"],
      },
    },
  };
}

/** What browsers are told: which origins may call, and to treat answers as what they say they are. */
export async function registerSecurity(
  app: FastifyInstance,
  { corsOrigins }: { corsOrigins: string[] },
): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: dataPolicy },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    // What else is served below this name is not ours to decide.
    strictTransportSecurity: { includeSubDomains: false },
  });
  if (corsOrigins.length === 0) return;
  await app.register(cors, {
    origin: corsOrigins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: accepted,
    exposedHeaders: exposed,
    maxAge: 600,
    // An OPTIONS that is no preflight is answered like on any other path.
    strictPreflight: false,
    preflightContinue: true,
  });
}
