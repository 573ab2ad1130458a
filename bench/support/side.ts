import { Agent, request } from 'node:http';
import type { Database } from '../../db/open.ts';
import { createApp } from '../../server/app.ts';
import type { Mail } from '../../server/mail/mailer.ts';
import { createIdentityProvider } from '../../server/platform/identity-provider.ts';
import { createLogger } from '../../server/platform/log.ts';
import { createLimits } from '../../server/platform/rate-limits.ts';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import { createTokens } from '../../server/platform/tokens.ts';
import { endedAfter } from './at-end.ts';
import { createDatabase } from './new-database.ts';

/** The service in this process, without limits, and the mails that it has sent. */
export type Side = Awaited<ReturnType<typeof startSide>>;

export async function startSide(database: Database) {
  const clock = { now: () => new Date() };
  const mails: Mail[] = [];
  const unset = createIdentityProvider(
    { issuer: 'https://none.example', audiences: [], jwksUrl: 'https://none.example' },
    clock,
  );
  const app = await createApp({
    database,
    clock,
    mailer: { send: async (mail) => void mails.push(mail) },
    tokens: await createTokens(await generateKeys()),
    limits: createLimits({ requestsPerMinute: 10_000_000 }),
    identityProviders: { google: unset, apple: unset },
    settings: {
      publicUrl: 'http://localhost',
      appUrl: 'http://localhost',
      requireTokenPair: true,
      corsOrigins: [],
      trustProxy: [],
    },
    logger: createLogger({ level: 'silent' }),
  });
  const url = await app.server.listen({ port: 0, host: '127.0.0.1' });
  const close = async () => {
    await app.close();
    await database.close();
    agent.destroy();
  };
  return { app, database, mails, url, close };
}

const agent = new Agent({ keepAlive: true });

type Request = { method: string; path: string; body?: unknown; headers?: Record<string, string> };

/** Sends a request over a kept connection; any status but 200 fails the bench. */
export function send<Answer>(url: string, { method, path, body, headers }: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = { agent, method, headers: { ...headers, 'content-type': 'application/json' } };
    const call = request(`${url}${path}`, sent, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode !== 200) reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        else resolve(JSON.parse(text) as Answer);
      });
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

type Registered = {
  access_token: string;
  refresh_token: string;
  company: { company_id: number };
  employee: { _id: number };
};

/** Registers a company through the real steps; the headers are those of its admin. */
export async function registerCompany({ app, mails, url }: Side, name: string) {
  const email = `admin@${name}.example`;
  await send(url, { method: 'POST', path: '/get-register-otp/', body: { email } });
  await app.worker.drain();
  const otp = /^\d{6}$/m.exec(mails.find(({ to }) => to === email)!.text)![0];
  const body = { company_name: name, email, otp, first_name: 'Ada', last_name: 'Lovelace' };
  const path = '/api/create-company-and-employee/';
  const { access_token, refresh_token, company, employee } = await send<Registered>(url, {
    method: 'POST',
    path,
    body,
  });
  return {
    companyId: company.company_id,
    employeeId: employee._id,
    headers: { authorization: `Bearer ${access_token}`, 'x-refresh-token': refresh_token },
  };
}

const serverUrl = process.env['BENCH_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/** Runs a bench on a new database of the server at BENCH_DATABASE_URL or 127.0.0.1:5432, and drops it, wherever the bench ends. */
export async function onNewDatabase(name: string, run: (databaseUrl: string) => Promise<void>): Promise<void> {
  await endedAfter(async () => run(await createDatabase(serverUrl, name)));
}
