import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { migrate } from '../db/migrate.ts';
import { openServer } from '../db/open.ts';
import { createApp } from '../server/app.ts';
import { createIdentityProvider } from '../server/kernel/identity-provider.ts';
import { createLimits } from '../server/kernel/limits.ts';
import { createTokens, generateKeys } from '../server/kernel/tokens.ts';
import { createLogger } from '../server/log.ts';
import type { Mail } from '../server/mail/mailer.ts';
import { grow, hire, seconds, type Company } from './time-company.ts';

/*
 * What time costs when there is much of it: medians over HTTP, one request at a time, at some sizes of one company, and
 * how they grow from size to size. Figures of the company, performance and creates must not grow with its logs.
 *
 *   npm run bench:time -- --sizes 10k,1m,10m
 *
 * It needs a PostgreSQL server, at BENCH_DATABASE_URL or 127.0.0.1:5432, on which it may make a database of its own;
 * that is dropped in the end. Ten million logs take some 5 GB and a quarter of an hour.
 */
const { values: options } = parseArgs({
  options: { sizes: { type: 'string', default: '10k,1m,10m' }, rounds: { type: 'string', default: '40' } },
});
const sizes = options.sizes.split(',').map((size) => {
  const [, number, unit = ''] = /^(\d+)([km]?)$/i.exec(size.trim()) ?? [];
  if (number === undefined) throw new Error(`${size} is no size: write 10000, 10k or 1m`);
  return Number(number) * { '': 1, k: 1_000, m: 1_000_000 }[unit.toLowerCase() as '' | 'k' | 'm'];
});
const rounds = Number(options.rounds);
/** The first size must not pay for what the process learns once. */
const warmUps = 40;
const serverUrl = process.env['BENCH_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const name = `wms_bench_time_${process.pid}`;
const databaseUrl = Object.assign(new URL(serverUrl), { pathname: name }).href;

const report = (what: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1B[K${what}`);
  else if (!/^\d+ of /.test(what) || /^\d*00000 of /.test(what)) process.stderr.write(`${what}\n`);
};

async function runOnServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function start() {
  const database = openServer(databaseUrl);
  await migrate(database.db);
  const mails: Mail[] = [];
  const clock = { now: () => new Date() };
  const none = { issuer: 'https://none.example', audiences: [], jwksUrl: 'https://none.example' };
  const app = await createApp({
    database,
    clock,
    mailer: { send: async (mail) => void mails.push(mail) },
    tokens: await createTokens(await generateKeys()),
    limits: createLimits({ requestsPerMinute: 10_000_000 }),
    identityProviders: { google: createIdentityProvider(none, clock), apple: createIdentityProvider(none, clock) },
    settings: {
      publicUrl: 'http://localhost',
      appUrl: 'http://localhost',
      requireTokenPair: true,
      corsOrigins: [],
      trustProxy: [],
    },
    logger: createLogger({ level: 'silent' }),
  });
  return { app, database, mails, url: await app.server.listen({ port: 0, host: '127.0.0.1' }) };
}

const agent = new Agent({ keepAlive: true });
let headers: Record<string, string> = {};

function send<Answer>(url: string, method: string, path: string, body?: unknown): Promise<Answer> {
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

const minuteMs = 60_000;
const random = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;
const description = 'bench';

/** What is measured: each answers one call. */
function callsOf(url: string, { companyId, employeeIds, taskIds }: Company): Record<string, () => Promise<unknown>> {
  const get = (path: string) => send(url, 'GET', path);
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 24 * 60 * minuteMs).toISOString().slice(0, 10);
  const month = `/api/timesheets/${companyId}/?from=${day(31)}&to=${day(1)}`;
  // Nobody logs as much twice: each call has a person of its own.
  const waiting = [...employeeIds];
  return {
    statistics: () => get(`/task-statistics/${companyId}/`),
    performance: () => get(`/api/performance/${companyId}/`),
    'list by task': () => get(`/taskLogs/task/${random(taskIds)}/`),
    "a month's timesheet, one person": () => get(`${month}&userId=${random(employeeIds)}`),
    "a month's timesheet, everybody": () => get(`${month}&groupBy=employee`),
    'single create': () => {
      const start = Date.now() - (60 + Math.floor(Math.random() * 30_000)) * minuteMs;
      return send(url, 'POST', '/tasklog/create/', {
        task_id: random(taskIds),
        employee_id: random(employeeIds),
        start_time: new Date(start),
        end_time: new Date(start + 25 * minuteMs),
        description,
      });
    },
    'bulk create of 500': () => {
      const userId = waiting.pop()!;
      const tasks = Array.from({ length: 20 }, () => random(taskIds));
      const entries = Array.from({ length: 500 }, (_, n) => {
        const startTime = Date.now() - (120 + n * 90) * minuteMs;
        const times = { startTime: new Date(startTime), endTime: new Date(startTime + 20 * minuteMs) };
        return { taskId: random(tasks), userId, ...times, description, manualAdd: true };
      });
      return send(url, 'POST', `/tasklogs/bulk/create/${userId}/`, entries);
    },
  };
}

async function medianOf(call: () => Promise<unknown>): Promise<number> {
  for (let warmUp = 0; warmUp < warmUps; warmUp += 1) await call();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;
}

type Side = Awaited<ReturnType<typeof start>>;

/** Registers the company, and lets all further calls be those of its admin. */
async function register({ app, mails, url }: Side): Promise<number> {
  const email = 'admin@example.com';
  await send(url, 'POST', '/get-register-otp/', { email });
  await app.worker.drain();
  const otp = /^\d{6}$/m.exec(mails[0]!.text)![0];
  const person = { email, otp, first_name: 'Ada', last_name: 'Lovelace' };
  type Registered = { access_token: string; refresh_token: string; company: { company_id: number } };
  const path = '/api/create-company-and-employee/';
  const { access_token, refresh_token, company } = await send<Registered>(url, 'POST', path, {
    company_name: 'Bench',
    ...person,
  });
  headers = { authorization: `Bearer ${access_token}`, 'x-refresh-token': refresh_token };
  return company.company_id;
}

async function measure(side: Side, client: pg.Client): Promise<Record<string, number>[]> {
  const company = await hire(client, await register(side));
  const medians: Record<string, number>[] = [];
  for (const size of sizes) {
    const begun = performance.now();
    await grow(side.database, client, company, size, report);
    const found: Record<string, number> = {};
    for (const [what, call] of Object.entries(callsOf(side.url, company))) {
      report(`${size} logs, ready after ${seconds(begun)}: ${what}`);
      found[what] = await medianOf(call);
    }
    const { companyId } = company;
    await client.query('delete from task_logs where company_id = $1 and description = $2', [companyId, description]);
    medians.push(found);
  }
  return medians;
}

function print(medians: Record<string, number>[]): void {
  const titles = sizes.map((size) => `${size.toLocaleString('en')} logs`);
  console.log(
    `\n${'median, one request at a time'.padEnd(34)}${titles.map((title) => title.padStart(18)).join('')}   growth`,
  );
  for (const what of Object.keys(medians[0]!)) {
    const times = medians.map((found) => found[what]!);
    const growth = times.slice(1).map((time, index) => `×${(time / times[index]!).toFixed(2)}`);
    const shown = times.map((time) => `${time.toFixed(2)} ms`.padStart(18)).join('');
    console.log(`${what.padEnd(34)}${shown}   ${growth.join(' ')}`);
  }
}

await runOnServer(`create database ${name}`);
const drop = () => runOnServer(`drop database ${name} with (force)`);
process.once('SIGINT', () => void drop().finally(() => process.exit(130)));
try {
  const side = await start();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    print(await measure(side, client));
  } finally {
    await client.end();
    await side.app.close();
    await side.database.close();
  }
} finally {
  await drop();
  agent.destroy();
}
