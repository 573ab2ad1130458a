import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createCaller, type Answer, type Caller, type TokenPair } from '../support/actor.ts';
import { blocksOf, makeCheckout, runShell, startIn } from '../support/pages.ts';
import { endAllProcesses, makeHome, type Home, type ServiceProcess } from '../support/process.ts';
import { runOn, withDatabase } from '../support/template.ts';

/*
 * The commands of docs/operations.md and docs/upgrading.md, in the life of one installation: its keys are made, it is watched,
 * backed up, given new keys, lost and restored. The tests follow one another, each with what the one before left.
 */

const pages = { operations: await blocksOf('docs/operations.md'), upgrading: await blocksOf('docs/upgrading.md') };
const isServer = inject('template').kind === 'server';
const timeout = 180_000;
const taken = new Set<string>();
const { folder, remove } = await makeCheckout();
const inFolder = async (file: string) => readFile(join(folder, file), 'utf8');

type Session = TokenPair & { companyId: number };

let home: Home;
let service: ServiceProcess;
/** What the service and the commands are told. */
let environment: Record<string, string>;
/** A session from before the backup, and one from after it. */
let early: Session;
let late: Session;
let onceAnswer: Answer;

beforeAll(async () => {
  home = await makeHome();
  const { DATABASE_URL = '' } = home.environment;
  environment = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'http://127.0.0.1',
    APP_URL: 'http://127.0.0.1/app',
    ACCEPT_MAIL_FILE: 'true',
    SEED_DEMO: 'true',
    ...(DATABASE_URL === '' ? { ACCEPT_EMBEDDED_DATABASE: 'true' } : { DATABASE_URL }),
  };
});
afterAll(async () => {
  await endAllProcesses();
  await remove();
  await home?.remove();
});

/** The shell code under a heading, at the service's real address; it counts as run. */
function under(heading: string, page: keyof typeof pages = 'operations'): string[] {
  taken.add(`${page}: ${heading}`);
  const found = pages[page].filter((block) => block.heading === heading && block.language === 'sh');
  return found.map(({ text }) => text.replaceAll('http://127.0.0.1:3000', service?.url ?? ''));
}

async function start(keys: string): Promise<void> {
  environment['AUTH_KEYS'] = await inFolder(keys);
  service = await startIn(folder, environment);
}

async function stop(): Promise<void> {
  service.signal('SIGTERM');
  expect(await service.ended).toBe(0);
}

const as = (session: Session): Caller => createCaller(service.url, session);

async function signIn(): Promise<Session> {
  const { status, body } = await createCaller(service.url).post(
    '/login/',
    JSON.parse(await inFolder('.data/demo-sign-in.json')),
  );
  expect(status).toBe(200);
  return { access_token: body.access_token, refresh_token: body.refresh_token, companyId: body.company.company_id };
}

const addProject = (session: Session, name: string): Promise<Answer> =>
  as(session).post('/api/projects/', { name }, { headers: { 'idempotency-key': name } });

const kidOf = ({ access_token }: TokenPair): string =>
  (JSON.parse(Buffer.from(access_token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;

test('keys are made, and the service starts with them', { timeout }, async () => {
  expect([under('Start, stop, health')[0], under('Upgrading', 'upgrading')[0]]).toEqual([
    'npm ci --omit=dev\nnpm start\n',
    'npm ci --omit=dev\nnpm start\n',
  ]);
  await runShell(folder, under('Keys')[0]!);
  await start('auth-keys.json');
  early = await signIn();
  onceAnswer = await addProject(early, 'Before the backup');
  expect(onceAnswer.status).toBe(200);
});

test(
  'a running service tells its health and its figures, and every figure to watch is there',
  { timeout },
  async () => {
    const health = [under('Start, stop, health')[1], under('Upgrading', 'upgrading')[1]];
    const said = await runShell(folder, [...health, ...under('Metrics and alerts')].join('\n'));
    expect(said).toMatch(/"ok".*"ready".*"ready"/);
    expect(said).toMatch(/^deliveries\{state="parked"\} 0$/m);

    const { body: metrics }: { body: string } = await createCaller(service.url).get('/metrics');
    const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const table = /\| Watch \|.*\n\|-.*\n((?:\|.*\n)*)/.exec(page)![1]!;
    const named = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) => [...cell!.matchAll(/`([a-z_0-9]+)/g)]);
    expect(named.length).toBeGreaterThan(8);
    const missing = named.filter(([, name]) => !metrics.includes(`# HELP ${name!.replace(/_count$/, '')} `));
    expect(missing).toEqual([]);
  },
);

describe('a backup', () => {
  test.runIf(isServer)('of PostgreSQL is made while the service runs', { timeout }, async () => {
    await runShell(folder, under('PostgreSQL')[0]!, environment);
    expect(await readdir(folder)).toContain('backup.dump');
    await stop();
  });

  test.runIf(!isServer)('of the embedded database is made when the service has stopped', { timeout }, async () => {
    await stop();
    await runShell(folder, under('Embedded database')[0]!);
    expect(await readdir(folder)).toContain('backup.tar.gz');
  });
});

test('the outbox is listed, and what was parked is tried anew', { timeout }, async () => {
  const said = await runShell(folder, under('Mail')[0]!, environment);
  expect(said).toMatch(/^0 parked, \d+ waiting\.$/m);
  expect(said).toContain('Nothing is parked.');
});

test('keys are rotated without signing anybody out', { timeout }, async () => {
  await runShell(folder, under('Keys')[1]!);
  await start('both-keys.json');
  const again = await addProject(early, 'Before the backup');
  expect([again.status, again.body]).toEqual([200, onceAnswer.body]);
  late = await signIn();
  expect(kidOf(late)).not.toBe(kidOf(early));
  expect((await addProject(late, 'After the backup')).status).toBe(200);
  await stop();
});

describe('what is lost comes back', () => {
  test.runIf(!isServer)('from the copy of the folder', { timeout }, async () => {
    await writeFile(join(folder, '.data/database/PG_VERSION'), 'lost');
    await expect(runShell(folder, 'npm run verify-totals', environment)).rejects.toThrow('ended with 1');
    const said = await runShell(folder, under('Embedded database')[1]!, environment);
    expect(said).toContain('1 companies were checked, 0 differences were found.');
  });

  test.runIf(isServer)('from the dump', { timeout }, async () => {
    const template = inject('template');
    if (template.kind !== 'server') throw new Error('this runs on a server');
    // Under the same name, so that it goes with the home.
    const name = basename(new URL(environment['DATABASE_URL']!).pathname);
    await runOn(template.url, `drop database ${name}`);
    await runOn(template.url, `create database ${name}`);
    const restored = { ...environment, RESTORED_URL: withDatabase(template.url, name) };
    const said = await runShell(folder, under('PostgreSQL')[1]!, restored);
    expect(said).toContain('1 companies were checked, 0 differences were found.');
  });

  test('as it was when the backup was made', { timeout }, async () => {
    await start('both-keys.json');
    const { status, body } = await as(early).get(`/api/projects/company/${early.companyId}/`);
    expect(status).toBe(200);
    const names = (body.results as { name: string }[]).map(({ name }) => name);
    expect(names).toContain('Before the backup');
    expect(names).not.toContain('After the backup');
    const ended = await as(late).get('/api/sessions/');
    expect([ended.status, ended.body.code]).toEqual([401, 'SESSION_ENDED']);
    await stop();
  });
});

test.runIf(isServer)('a database is told what a pooler passes over', async () => {
  await runShell(folder, under('PgBouncer')[0]!, environment);
  const shown = `psql -qtA "$DATABASE_URL" -c 'show timezone' -c 'show jit' -c 'show lock_timeout'`;
  expect(await runShell(folder, shown, environment)).toBe('UTC\noff\n10s\n');
});

test('every command of these pages is run by a test above', () => {
  const elsewhere = isServer ? ['operations: Embedded database'] : ['operations: PostgreSQL', 'operations: PgBouncer'];
  const all = Object.entries(pages).flatMap(([page, blocks]) => blocks.map(({ heading }) => `${page}: ${heading}`));
  expect(new Set([...taken, ...elsewhere])).toEqual(new Set(all));
});
