import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { migrate } from '../../db/migrate.ts';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer } from '../../db/open.ts';
import { createPasswords } from '../../server/platform/passwords.ts';
import { startSide } from '../support/side.ts';
import { median } from '../support/timing.ts';
import type { TimedCall } from './timed-client.ts';

/*
 * What the ways in withstand, as figures: of 64 who redeem one secret at once how many succeed, over many rounds;
 * and whether the time of an answer tells a known address from an unknown one (AUC: 0.5 is a coin toss).
 * Run it with `npm run bench:sign-in`, and with BENCH_DATABASE_URL for a PostgreSQL server's empty database.
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 100);
const callers = 64;
const pairsOfCalls = 200;

type Answer = { status: number; body: Record<string, unknown> };
type Call = { path: string; body: object };

const databaseUrl = process.env['BENCH_DATABASE_URL'];
const database = databaseUrl === undefined ? await openEmbedded() : openServer(databaseUrl);
await migrate(database.db);
const side = await startSide(database);

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${side.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const address = (): string => `${randomUUID()}@example.com`;
const lastMail = (email: string): string => side.mails.findLast((mail) => mail.to === email)?.text ?? '';
const codeIn = (text: string): string => /^\d{6}$/m.exec(text)![0];

async function sendCode(path: string, email: string): Promise<string> {
  await post(path, { email });
  await side.app.worker.drain();
  return codeIn(lastMail(email));
}

async function register(email: string): Promise<Answer> {
  const otp = await sendCode('/get-register-otp/', email);
  return post('/api/create-company-and-employee/', { company_name: 'C', email, otp, first_name: 'A', last_name: 'B' });
}

/** Prepares one secret and answers how to redeem it. */
const secrets: Record<string, () => Promise<() => Promise<Answer>>> = {
  'registration code': async () => {
    const email = address();
    const otp = await sendCode('/get-register-otp/', email);
    return () =>
      post('/api/create-company-and-employee/', { company_name: 'C', email, otp, first_name: 'A', last_name: 'B' });
  },
  'sign-in code': async () => {
    const email = address();
    await register(email);
    const otp = await sendCode('/verify-email/', email);
    return () => post('/otp-login/', { email, otp });
  },
  'login ticket': async () => {
    const email = address();
    await register(email);
    const second = await register(email);
    const otp = await sendCode('/verify-email/', email);
    const { body } = await post('/otp-login/', { email, otp });
    const companyId = (second.body['company'] as { company_id: number }).company_id;
    const headers = { authorization: `Bearer ${String(body['login_ticket'])}` };
    return () => post('/token-login/', { email, company_id: companyId }, headers);
  },
  'reset token': async () => {
    const email = address();
    await register(email);
    await post('/reset/link/', { email });
    await side.app.worker.drain();
    const token = /token=(\S+)/.exec(lastMail(email))![1]!;
    const password = 'correct horse battery';
    return () => post('/reset/verify/', { token, new_password: password, confirm_password: password });
  },
};

async function redeemAtOnce(): Promise<void> {
  console.log(`Of ${callers} redemptions at once, over ${rounds} rounds (${side.database.kind} database):`);
  for (const [name, prepare] of Object.entries(secrets)) {
    let exactlyOne = 0;
    for (let round = 0; round < rounds; round += 1) {
      const redeem = await prepare();
      const answers = await Promise.all(Array.from({ length: callers }, redeem));
      if (answers.filter(({ status }) => status === 200).length === 1) exactlyOne += 1;
      progress(name, round + 1, rounds);
    }
    report(name, `exactly one succeeded in ${exactlyOne} of ${rounds}`);
  }
  let oneSuccessor = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { body } = await register(address());
    const refresh = () => post('/api/token/refresh/', { refresh_token: body['refresh_token'] });
    const answers = await Promise.all(Array.from({ length: callers }, refresh));
    const successors = new Set(answers.map((answer) => answer.body['refresh_token']));
    if (successors.size === 1 && answers.every(({ status }) => status === 200)) oneSuccessor += 1;
    progress('refresh token', round + 1, rounds);
  }
  report('refresh token', `one successor, and nobody logged out, in ${oneSuccessor} of ${rounds}`);
}

/** How often a time of `known` is above one of `unknown`: the area under the ROC curve. */
function areaUnderCurve(known: number[], unknown: number[]): number {
  let above = 0;
  for (const one of known) for (const other of unknown) above += one > other ? 1 : one === other ? 0.5 : 0;
  return above / (known.length * unknown.length);
}

const client = new Worker(new URL('timed-client.ts', import.meta.url));

async function timed({ path, body }: Call): Promise<number> {
  client.postMessage({ url: `${side.url}${path}`, body } satisfies TimedCall);
  const [ms] = (await once(client, 'message')) as [number];
  return ms;
}

async function compareTimes(): Promise<void> {
  console.log(`\nTime of ${pairsOfCalls * 2} interleaved calls, known against unknown addresses:`);
  const known = Array.from({ length: pairsOfCalls }, address);
  const passwordHash = await createPasswords().hash('correct horse battery');
  const now = new Date();
  for (const email of known) {
    await side.database.db
      .insertInto('accounts')
      .values({ email, password_hash: passwordHash, email_verified_at: now, created_at: now, updated_at: now })
      .execute();
  }
  const bodies: Record<string, (email: string) => object> = {
    '/login/': (email) => ({ email, password: 'wrong' }),
    '/reset/link/': (email) => ({ email }),
    '/verify-email/': (email) => ({ email }),
    '/get-register-otp/': (email) => ({ email }),
  };
  // As it runs for real: jobs run while further requests come.
  side.app.worker.start();
  for (const [path, body] of Object.entries(bodies)) {
    for (let warmUp = 0; warmUp < 30; warmUp += 1) await timed({ path, body: body(address()) });
    const times = { known: [] as number[], unknown: [] as number[] };
    for (const [index, email] of known.entries()) {
      const order = Math.random() < 0.5 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
      for (const which of order)
        times[which].push(await timed({ path, body: body(which === 'known' ? email : address()) }));
      progress(path, index + 1, known.length);
    }
    const area = areaUnderCurve(times.known, times.unknown).toFixed(3);
    report(
      path,
      `AUC ${area}, median ${median(times.known).toFixed(2)} ms known, ${median(times.unknown).toFixed(2)} ms unknown`,
    );
  }
}

function progress(name: string, done: number, of: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${name}: ${done}/${of} `);
}
function report(name: string, figures: string): void {
  if (process.stderr.isTTY) process.stderr.write('\r');
  console.log(`  ${name.padEnd(26)} ${figures}`);
}

await redeemAtOnce();
await compareTimes();
await client.terminate();
await side.close();
