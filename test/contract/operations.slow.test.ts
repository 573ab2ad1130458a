import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { migrations } from '../../db/migrations/index.ts';
import { createCaller, type Answer, type Caller, type TokenPair } from '../support/actor.ts';
import { makeCheckout, runShell, startIn } from '../support/pages.ts';
import { endAllProcesses, makeHome, type Home, type ServiceProcess } from '../support/process.ts';
import { runOn, withDatabase } from '../support/template.ts';
import { openTour } from '../support/tours.ts';

/*
 * The commands of docs/operations.md and docs/upgrading.md, in the life of one installation: its keys are made, it is watched,
 * backed up, given new keys, lost and restored. The tests follow one another, each with what the one before left.
 */

const tour = await openTour('contract/operations.slow.test.ts');
const isServer = inject('template').kind === 'server';
const timeout = 180_000;
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
let migrateCommand: string;

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

/** The next commands under a heading, at the service's real address. */
const next = (heading: string, page = 'docs/operations.md'): string =>
  tour.take(page, heading).replaceAll('http://127.0.0.1:3000', service?.url ?? '');

const nextOfUpgrade = (heading = 'One node after the other'): string => next(heading, 'docs/upgrading.md');

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
  migrateCommand = nextOfUpgrade();
  expect([next('Start, stop, health'), nextOfUpgrade()]).toEqual(['npm start\n', 'npm start\n']);
  await runShell(folder, next('Keys'));
  await start('auth-keys.json');
  early = await signIn();
  onceAnswer = await addProject(early, 'Before the backup');
  expect(onceAnswer.status).toBe(200);
});

test(
  'a running service tells its health and its figures, and every figure to watch is there',
  { timeout },
  async () => {
    const health = [next('Start, stop, health'), nextOfUpgrade()];
    const said = await runShell(folder, [...health, next('Metrics and alerts')].join('\n'));
    expect(said).toMatch(/"ok".*"ready".*"ready"/);
    expect(said).toMatch(/^jobs\{state="dead_lettered"\} 0$/m);

    const { body: metrics }: { body: string } = await createCaller(service.url).get('/metrics');
    const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const table = /\| Watch \|.*\n\|-.*\n((?:\|.*\n)*)/.exec(page)![1]!;
    const named = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) => [...cell!.matchAll(/`([a-z_0-9]+)/g)]);
    expect(named.length).toBeGreaterThan(8);
    const missing = named.filter(([, name]) => !metrics.includes(`# HELP ${name!.replace(/_count$/, '')} `));
    expect(missing).toEqual([]);
  },
);

test.runIf(isServer)('an operator migrates, and sees connections, standbys and the primary', { timeout }, async () => {
  const commands = ['Several nodes', 'Read replica', 'Failover'].map((heading) => next(heading));
  const said = await runShell(folder, commands.join('\n'), environment);
  expect(said).toMatch(/^\d+\|\d+$/m);
  expect(said).toContain('sync_state');
  expect(said).toMatch(/^# HELP replica_used /m);
  expect(said).toMatch(/^f$/m);
});

describe('a backup', () => {
  test.runIf(isServer)('of PostgreSQL is made while the service runs', { timeout }, async () => {
    await runShell(folder, next('PostgreSQL'), environment);
    expect(await readdir(folder)).toContain('backup.dump');
    await stop();
  });

  test.runIf(!isServer)('of the embedded database is made when the service has stopped', { timeout }, async () => {
    await stop();
    await runShell(folder, next('Embedded database'));
    expect(await readdir(folder)).toContain('backup.tar.gz');
  });
});

test('jobs are listed, and dead-lettered ones are requeued', { timeout }, async () => {
  const said = await runShell(folder, next('Mail'), environment);
  expect(said).toMatch(/^0 dead-lettered, \d+ pending\.$/m);
  expect(said).toContain('No job is dead-lettered.');
  expect(said).toContain('npm run jobs -- list --dead-lettered');
});

test('a database is migrated by a command', { timeout }, async () => {
  expect(await runShell(folder, migrateCommand, environment)).toContain('The database was up to date.');
});

test.runIf(isServer)('a database tells which migration it has', { timeout }, async () => {
  const said = await runShell(folder, nextOfUpgrade('All nodes stopped'), environment);
  expect(said).toContain(Object.keys(migrations).at(-1));
});

test('keys are rotated without signing anybody out', { timeout }, async () => {
  await runShell(folder, next('Keys'));
  await start('old-first.json');
  const again = await addProject(early, 'Before the backup');
  expect([again.status, again.body]).toEqual([200, onceAnswer.body]);
  expect(kidOf(await signIn())).toBe(kidOf(early));
  await stop();

  expect(next('Keys')).toContain('cat new-first.json');
  await start('new-first.json');
  expect((await as(early).get('/api/sessions/')).status).toBe(200);
  late = await signIn();
  expect(kidOf(late)).not.toBe(kidOf(early));
  expect((await addProject(late, 'After the backup')).status).toBe(200);
  await stop();

  // A node that is restarted later meets what the new key has signed.
  await start('old-first.json');
  expect((await as(late).get('/api/sessions/')).status).toBe(200);
  await stop();
});

test('the audit log is verified by a command', { timeout }, async () => {
  const said = await runShell(folder, next('Seals', 'docs/audit.md'), environment);
  expect(said).toContain('1 companies were checked, all logs are intact.');
});

describe('what is lost comes back', () => {
  test.runIf(!isServer)('from the copy of the folder', { timeout }, async () => {
    await writeFile(join(folder, '.data/database/PG_VERSION'), 'lost');
    await expect(runShell(folder, 'node server/commands/verify-totals.ts', environment)).rejects.toThrow(
      'ended with 1',
    );
    const said = await runShell(folder, next('Embedded database'), environment);
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
    const said = await runShell(folder, next('PostgreSQL'), restored);
    expect(said).toContain('1 companies were checked, 0 differences were found.');
  });

  test('as it was when the backup was made', { timeout }, async () => {
    await start('new-first.json');
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
  await runShell(folder, next('PgBouncer'), environment);
  const shown = `psql -qtA "$DATABASE_URL" -c 'show timezone' -c 'show jit' -c 'show lock_timeout'`;
  expect(await runShell(folder, shown, environment)).toBe('UTC\noff\n10s\n');
});

test.runIf(isServer)('an operator confirms the time, so that old rows are deleted', async () => {
  await runShell(folder, next('Deleting old things'), environment);
  const confirmed = `psql -qtA "$DATABASE_URL" -c 'select looked_at <= now(), doubted_since is null from sweep_rounds'`;
  expect(await runShell(folder, confirmed, environment)).toBe('t|t\n');
});

test('a company is removed by a command, once, and is asked for by its name', { timeout }, async () => {
  const command = 'node server/commands/remove-company.ts';
  await expect(runShell(folder, `${command} 1 </dev/null`, environment)).rejects.toThrow('ended with 1');
  await expect(runShell(folder, `${command} one`, environment)).rejects.toThrow('ended with 2');
  const said = await runShell(folder, next('Removing a company'), environment);
  expect(said).toMatch(/^Company 1, .+: \d+ people, \d+ projects, \d+ tasks, \d+ logs, \d+ comments\.$/m);
  expect(said).toContain('POST /api/exports/');
  expect(said).toMatch(/^  \d+ rows of task_logs$/m);
  expect(said).toContain('Company 1 is removed.');
  expect(await runShell(folder, `${command} 1 --yes || true`, environment)).toContain('There is no company 1.');
  const verify = 'node server/commands/verify-totals.ts';
  expect(await runShell(folder, verify, environment)).toContain('0 companies were checked');
});

test('nothing that has keys, codes or a database in it may be read by others', async () => {
  const made = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  expect(made.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['auth-keys.json', 'new-key.json', 'old-first.json', 'new-first.json']),
  );
  const modes = await Promise.all(made.map(async ({ name }) => [name, (await stat(join(folder, name))).mode & 0o777]));
  expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([]);
});

test('every command of these pages is run by a test above', () => {
  const onServer = ['PostgreSQL', 'Several nodes', 'PgBouncer', 'Read replica', 'Failover', 'Deleting old things'];
  const elsewhere = isServer
    ? ['docs/operations.md: Embedded database']
    : [...onServer.map((heading) => `docs/operations.md: ${heading}`), 'docs/upgrading.md: All nodes stopped'];
  expect(tour.left().filter((block) => !elsewhere.includes(block))).toEqual([]);
});
