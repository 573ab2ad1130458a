import { z } from './errors/zod-messages.ts';
import {
  clientIds,
  flag,
  host,
  isNetwork,
  isOrigin,
  plainWebUrl,
  port,
  sender,
  url,
  webUrl,
  wholeNumber,
  words,
} from './startup/setting-types.ts';

/** An invalid setting: the start stops with this sentence. */
export class BadSetting extends Error {
  override name = 'BadSetting';
}

const databaseUrl = url(/^postgres(ql)?$/, 'postgres://user:password@host:5432/database').optional();

/** All settings of the service: environment variables, read at the start and nowhere else. */
const schema = z.object({
  NODE_ENV: z
    .enum(['development', 'test', 'production'], 'must be development, test or production')
    .default('development')
    .describe('`production` refuses to start half-configured (see above), and makes the demo company opt-in'),
  PORT: port.default(3000).describe('Port to listen on; 0 takes a free one'),
  HOST: host.default('127.0.0.1').describe('Address to listen on; 0.0.0.0 for all'),
  OPS_PORT: port
    .optional()
    .describe(
      'Private port for /metrics, which the public port then lacks; /healthz and /readyz are on both; 0 takes a free one',
    ),
  OPS_HOST: host.default('127.0.0.1').describe('Address of OPS_PORT: one that only operators reach'),
  OPS_DOCS: flag
    .default(false)
    .describe(
      'true: /docs, /openapi.json, /asyncapi.json and /client.tgz are on OPS_PORT as well, and no longer public',
    ),
  DATA_DIR: z.string().default('.data').describe('Folder of the embedded database, the keys and the mail file'),
  DATABASE_URL: databaseUrl.describe('PostgreSQL server; without it the embedded database is used'),
  ACCEPT_EMBEDDED_DATABASE: flag
    .default(false)
    .describe('true: production starts without DATABASE_URL, on the embedded database'),
  DATABASE_POOLER: z
    .enum(['transaction'], 'must be transaction, or not set')
    .optional()
    .describe('transaction: DATABASE_URL leads to PgBouncer with `pool_mode = transaction`; see PgBouncer'),
  DATABASE_DIRECT_URL: databaseUrl.describe(
    'The same database without the pooler, for migrations and for notifications between nodes',
  ),
  DATABASE_REPLICA_URL: databaseUrl.describe(
    'A streaming standby of the same database, reached directly; takes long reads: see Read replica',
  ),
  DATABASE_REPLICA_LAG_MAX_MS: wholeNumber(0, 60_000)
    .default(500)
    .describe(
      'How long a read waits for the standby to have all that was stored before it; then it goes to the primary',
    ),
  DATABASE_CONNECTIONS: wholeNumber(2, 500)
    .default(10)
    .describe(
      'Connections to the PostgreSQL server that requests and jobs share, at most; half as many more are for long reads',
    ),
  DATABASE_READ_CONNECTIONS: wholeNumber(0, 16)
    .default(2)
    .describe('Further connections on which short reads are pipelined; none with DATABASE_POOLER'),
  DATABASE_ROW_SECURITY: flag
    .default(false)
    .describe(
      'true: PostgreSQL shows each statement the rows of its company only, as a second wall; see Row-level security',
    ),
  PUBLIC_URL: plainWebUrl
    .optional()
    .describe(
      'Address of this service for callers; in links to pictures, and the issuer of OAuth. Default: http://HOST:PORT',
    ),
  APP_URL: webUrl
    .optional()
    .describe('Frontend that links in mails point to. Default: the demo page if it is served, else PUBLIC_URL'),
  AUTH_KEYS: z
    .string()
    .optional()
    .describe(
      'JSON Web Key Set of Ed25519 private keys; the first signs. Outside production created and stored in DATA_DIR',
    ),
  SENDGRID_API_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('Sends mail through SendGrid; without it mail goes to DATA_DIR/mail.jsonl'),
  SENDGRID_BASE_URL: webUrl
    .default('https://api.sendgrid.com')
    .describe("SendGrid's API; https://api.eu.sendgrid.com for accounts of its EU region"),
  ACCEPT_MAIL_FILE: flag
    .default(false)
    .describe(
      'true: production starts without SENDGRID_API_KEY and MAIL_FROM, and writes mail, codes included, to the file',
    ),
  MAIL_FROM: z
    .string()
    .regex(sender, 'must be an address, such as no-reply@example.com or Work <no-reply@example.com>')
    .default('no-reply@localhost')
    .describe('Sender of all mail'),
  GOOGLE_CLIENT_IDS: clientIds.describe(
    'Audiences of accepted Google identity tokens, by comma; also that of each app that requests tokens (`azp`)',
  ),
  GOOGLE_ISSUER: z.string().default('https://accounts.google.com').describe('Issuer of Google identity tokens'),
  GOOGLE_JWKS_URL: webUrl.default('https://www.googleapis.com/oauth2/v3/certs').describe("Google's published keys"),
  APPLE_CLIENT_IDS: clientIds.describe('Audiences of accepted Apple identity tokens, by comma'),
  APPLE_ISSUER: z.string().default('https://appleid.apple.com').describe('Issuer of Apple identity tokens'),
  APPLE_JWKS_URL: webUrl.default('https://appleid.apple.com/auth/keys').describe("Apple's published keys"),
  REDIS_URL: url(/^rediss?$/, 'redis://host:6379')
    .optional()
    .describe('Shares rate limits between nodes, and notifies them of events'),
  CORS_ORIGINS: words
    .refine(
      (origins) => origins.every(isOrigin),
      'must be origins by comma, such as https://app.example.com, without a path',
    )
    .default([])
    .describe('Origins of browsers that may call, by comma; none by default'),
  TRUST_PROXY: words
    .refine(
      (networks) => networks.every((network) => isNetwork(network) && !network.endsWith('/0')),
      'must be addresses or CIDR networks, by comma, and not all addresses',
    )
    .default([])
    .describe('Addresses or CIDR networks of the proxies in front, by comma; only their X-Forwarded-For is used'),
  WEBHOOK_ALLOWED_NETWORKS: words
    .refine((networks) => networks.every(isNetwork), 'must be addresses or CIDR networks, by comma')
    .default([])
    .describe(
      'Addresses or CIDR networks that are not public and that webhooks may lead to, there also by plain http, by comma; see Webhooks',
    ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Log lines from this level on, as JSON on standard output'),
  RATE_LIMIT_PER_MINUTE: wholeNumber(1)
    .default(600)
    .describe(
      'Requests a minute for each operation and session or key. Wrong or missing credentials count against their network: a sixth of this at one operation, all of it at all operations together; beyond that they get 429, and valid ones are still served',
    ),
  RATE_LIMIT_PER_MINUTE_OF_EMPLOYEE: wholeNumber(1)
    .optional()
    .describe('The same for all sessions and keys of one employee. Default: four times as many'),
  RATE_LIMIT_PER_MINUTE_OF_COMPANY: wholeNumber(1)
    .optional()
    .describe('The same for all employees of one company. Default: sixty times as many'),
  CONNECTIONS_PER_NETWORK: wholeNumber(1)
    .default(256)
    .describe(
      'Open unauthenticated connections of one network (an IPv4 address, an IPv6 /64); one more gets 429 and is closed. Those of TRUST_PROXY, 127.0.0.1 and ::1 are not counted, because they are shared',
    ),
  AUDIT_RETENTION_DAYS: wholeNumber(30, 36_500)
    .optional()
    .describe('Rows of the audit log are deleted after so many days, with their seals. Default: never'),
  AUTH_REQUIRE_TOKEN_PAIR: flag.default(true).describe('false: the access token alone is enough'),
  SEED_DEMO: flag
    .optional()
    .describe(
      'A small demo company for a first look, and the page at /demo/ if it was built. Default: true, in production false',
    ),
});

export type Config = z.infer<typeof schema>;

/** Reads the settings. Empty and blank ones count as unset. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const { data, error } = schema.safeParse(given);
  // The value may be a secret, so only the name is reported.
  const sentences = (error?.issues ?? []).map((issue) => `${String(issue.path[0])} ${issue.message}`);
  const missing = given['NODE_ENV'] === 'production' ? missingInProduction(given) : [];
  if (data?.OPS_DOCS === true && data.OPS_PORT === undefined) sentences.push('OPS_DOCS needs OPS_PORT');
  if (data?.DATABASE_DIRECT_URL !== undefined && data.DATABASE_POOLER === undefined)
    sentences.push('DATABASE_DIRECT_URL needs DATABASE_POOLER');
  if (data?.DATABASE_REPLICA_URL !== undefined && data.DATABASE_URL === undefined)
    sentences.push('DATABASE_REPLICA_URL needs DATABASE_URL');
  if (missing.length > 0) sentences.push(`production needs ${missing.join(', ')}`);
  if (data === undefined || sentences.length > 0) throw new BadSetting(`Bad setting: ${sentences.join('; ')}.`);
  return data;
}

/** Settings that production requires; the setting in brackets accepts their absence. */
function missingInProduction(given: Partial<Record<string, string>>): string[] {
  const accepts = (name: string): boolean => given[name] === 'true';
  const orFile = '(or ACCEPT_MAIL_FILE=true)';
  const needed: [name: string, told: string, isAccepted?: boolean][] = [
    ['AUTH_KEYS', 'AUTH_KEYS (make it with `npm run keys`)'],
    ['DATABASE_URL', 'DATABASE_URL (or ACCEPT_EMBEDDED_DATABASE=true)', accepts('ACCEPT_EMBEDDED_DATABASE')],
    ['PUBLIC_URL', 'PUBLIC_URL'],
    ['APP_URL', 'APP_URL'],
    ['SENDGRID_API_KEY', `SENDGRID_API_KEY ${orFile}`, accepts('ACCEPT_MAIL_FILE')],
    ['MAIL_FROM', `MAIL_FROM ${orFile}`, accepts('ACCEPT_MAIL_FILE')],
  ];
  return needed
    .filter(([name, , isAccepted]) => given[name] === undefined && isAccepted !== true)
    .map(([, told]) => told);
}

/** Name, description and default of every setting, for the table in docs/operations.md. */
export function describeSettings(): { name: string; description: string; default: string }[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const fallback = field.safeParse(undefined).data;
    return {
      name,
      description: field.description ?? '',
      default: fallback === undefined ? '' : [fallback].flat().join(','),
    };
  });
}
