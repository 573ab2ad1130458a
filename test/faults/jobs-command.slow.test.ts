import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer, type Db } from '../../db/open.ts';
import { endAllProcesses, makeHome, runToEnd, startProcess } from '../support/process.ts';
import { startSendGrid } from '../support/sendgrid.ts';
import { waitUntil } from '../support/waiting.ts';

/* One home, in the order of the tests. */

const apiKey = 'SG.the-key-of-a-test';
const home = await makeHome();
const provider = await startSendGrid(apiKey);
afterAll(async () => {
  await endAllProcesses();
  await provider.close();
  await home.remove();
});

const isEmbedded = home.databaseUrl === undefined;
const timeoutMs = 120_000;
const environment = {
  ...home.environment,
  SEED_DEMO: 'false',
  SENDGRID_API_KEY: apiKey,
  SENDGRID_BASE_URL: provider.url,
  MAIL_FROM: 'no-reply@example.com',
};
const run = (...words: string[]) => runToEnd(home.environment, [process.execPath, 'server/commands/jobs.ts', ...words]);

async function onDatabase<Answer>(body: (db: Db) => Promise<Answer>): Promise<Answer> {
  const database = isEmbedded ? await openEmbedded({ folder: home.folder }) : openServer(home.databaseUrl!);
  try {
    return await body(database.db);
  } finally {
    await database.close();
  }
}

const now = Date.now();
const hourMs = 3_600_000;
const at = (ms: number) => new Date(now + ms);
const code = (email: string) => ({
  handler: 'send-code',
  queue: 'mail',
  payload: JSON.stringify({ email, purpose: 'registration' }),
});

/** The identifiers that each has, by its key. */
let ids: Record<'dead' | 'late' | 'failed' | 'planned', number>;

beforeAll(async () => {
  await onDatabase(async (db) => {
    const insert = (key: string, row: object) =>
      db
        .insertInto('jobs')
        .values({ dedupe_key: key, due_at: at(-1000), created_at: at(-1000), ...row } as never)
        .returning('job_id')
        .executeTakeFirstOrThrow()
        .then((inserted) => inserted.job_id);
    ids = {
      dead: await insert('dead', {
        ...code('dead@example.com'),
        attempts: 35,
        dead_lettered_at: at(0),
        last_error: 'SendGrid answered 401.\n\u001b[2J Check SENDGRID_API_KEY',
      }),
      late: await insert('late', {
        ...code('late@example.com'),
        attempts: 35,
        created_at: at(-hourMs),
        dead_lettered_at: at(0),
        last_error: 'down',
      }),
      failed: await insert('failed', {
        ...code('failed@example.com'),
        attempts: 3,
        due_at: at(hourMs),
        last_error: 'down',
      }),
      planned: await insert('planned', {
        handler: 'timer-overdue',
        payload: '{"companyId": 1, "employeeId": 2}',
        due_at: at(24 * hourMs),
      }),
    };
  });
}, timeoutMs);

test(
  'bad usage is said with exit code 2, and --help with 0',
  async () => {
    const bad = await run('requeue', '--every');
    expect(bad).toMatchObject({ code: 2, stdout: '' });
    expect(bad.stderr).toMatch(/^Unknown option '--every'[^]*npm run jobs -- requeue --all/);
    const help = await run('--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('npm run jobs -- list --dead-lettered');
  },
  timeoutMs,
);

test(
  'list shows dead-lettered and pending jobs with their subject and error, and no job that is planned for later',
  async () => {
    const { code: exitCode, stdout } = await run('list');
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      [
        `${ids.dead}  send-code  dead-lettered ${at(0).toISOString().replace(/\.\d+/, '')}`,
        '    about    email dead@example.com, purpose registration',
        `    created  ${at(-1000).toISOString().replace(/\.\d+/, '')}, 35 attempts`,
        '    error    SendGrid answered 401. [2J Check SENDGRID_API_KEY',
        '',
      ].join('\n'),
    );
    expect(stdout).toContain(`${ids.failed}  send-code  pending, due `);
    expect(stdout).toContain('\n2 dead-lettered, 1 pending.\n');
    expect(stdout).not.toContain('timer-overdue');

    expect((await run('list', '--dead-lettered')).stdout).not.toContain('failed@example.com');
    const pending = await run('list', '--pending');
    expect(pending.stdout).toContain('failed@example.com');
    expect(pending.stdout).not.toContain('dead@example.com');
  },
  timeoutMs,
);

test(
  'requeue says which it requeued and what comes of it, which there are not, and which need no help',
  async () => {
    const { code: exitCode, stdout } = await run('requeue', String(ids.dead), '999999', String(ids.planned));
    expect(exitCode).toBe(1);
    expect(stdout).toContain('999999: there is no such job.');
    expect(stdout).toContain(`${ids.planned}: has not been attempted and needs no help; it is due `);
    expect(stdout).toContain(`1 job requeued: ${ids.dead}.`);
    expect(stdout).toContain(
      isEmbedded ? 'The service runs them when it is started' : 'A running service runs them at once',
    );
    const rows = await onDatabase((db) =>
      db.selectFrom('jobs').select(['job_id', 'attempts', 'dead_lettered_at', 'due_at']).execute(),
    );
    const rowOf = (id: number) => rows.find((row) => row.job_id === id)!;
    expect(rowOf(ids.dead)).toMatchObject({ attempts: 0, dead_lettered_at: null });
    expect(rowOf(ids.dead).due_at.getTime()).toBeLessThanOrEqual(Date.now());
    expect(rowOf(ids.late)).toMatchObject({ attempts: 35, dead_lettered_at: at(0) });
    expect(rowOf(ids.planned).due_at).toEqual(at(24 * hourMs));
  },
  timeoutMs,
);

const messageWhileInUse =
  /^The embedded database in \S+ is in use by process \d+, .*: stop the service, run this again, then start the service\.\n$/;

test(
  'the service sends what was requeued, and drops a code that would be too late',
  async () => {
    expect(await run('requeue', '--pending')).toMatchObject({ code: 0 });
    expect((await run('requeue', '--all')).stdout).toContain(`requeued: ${ids.late}.`);
    expect((await run('requeue', '--all')).stdout).toContain('No job is dead-lettered.');
    const service = await startProcess(environment);
    await waitUntil(() => provider.taken.length === 2);
    expect(provider.taken.map((one) => one.to).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'dead@example.com',
      'failed@example.com',
    ]);
    await waitUntil(() => service.stdout().includes('a code was not sent: it would have expired by now'));

    // A running service holds the embedded database; a server's is open to both.
    const result = await run('list');
    expect({ ...result, stderr: messageWhileInUse.test(result.stderr) ? 'in use' : result.stderr }).toEqual(
      isEmbedded
        ? { code: 1, stdout: '', stderr: 'in use' }
        : { code: 0, stdout: '0 dead-lettered, 0 pending.\n', stderr: '' },
    );
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(provider.taken).toHaveLength(2);
  },
  timeoutMs,
);

test.runIf(!isEmbedded)(
  'a running service runs the jobs that are requeued',
  async () => {
    const service = await startProcess(environment);
    const before = provider.taken.length;
    const id = await onDatabase((db) =>
      db
        .insertInto('jobs')
        .values({
          ...code('again@example.com'),
          dedupe_key: 'again',
          due_at: new Date(),
          created_at: new Date(),
          dead_lettered_at: new Date(),
        })
        .returning('job_id')
        .executeTakeFirstOrThrow(),
    );
    expect(await run('requeue', String(id.job_id))).toMatchObject({ code: 0 });
    await waitUntil(() => provider.taken.length > before);
    expect(provider.taken.at(-1)).toMatchObject({ to: 'again@example.com', idempotencyKey: 'again' });
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
  },
  timeoutMs,
);

test(
  'discard deletes dead-lettered jobs and no others',
  async () => {
    const insert = (key: string, row: object) =>
      onDatabase((db) =>
        db
          .insertInto('jobs')
          .values({ ...code(`${key}@example.com`), dedupe_key: key, due_at: at(hourMs), created_at: at(0), ...row })
          .returning('job_id')
          .executeTakeFirstOrThrow(),
      ).then((inserted) => inserted.job_id);
    const left = () => onDatabase((db) => db.selectFrom('jobs').select('job_id').orderBy('job_id').execute());
    const dead = await insert('bad', { dead_lettered_at: at(0) });
    const other = await insert('worse', { dead_lettered_at: at(0) });
    const waiting = await insert('waiting', { attempts: 3 });

    expect(await run('discard')).toMatchObject({ code: 2, stdout: '' });
    expect(await run('discard', '--pending')).toMatchObject({ code: 2, stdout: '' });
    expect(await run('discard', String(dead), String(waiting))).toMatchObject({
      code: 1,
      stdout: `${waiting}: is not dead-lettered, so it was left alone.\n1 job discarded: ${dead}.\n`,
    });
    expect(await run('discard', '--all')).toMatchObject({ code: 0, stdout: `1 job discarded: ${other}.\n` });
    expect(await run('discard', '--all')).toMatchObject({ code: 0, stdout: 'No job is dead-lettered.\n' });
    const rows = await left();
    expect(rows.map(({ job_id }) => job_id)).toEqual([ids.planned, waiting]);
  },
  timeoutMs,
);
