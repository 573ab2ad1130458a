import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { catalogue, isReference, type Label, type Table } from '../../db/catalogue.ts';
import { verifyCounts } from '../../db/derived/verify-counts.ts';
import { verifyTotals } from '../../db/derived/verify-work-time.ts';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer, type Db } from '../../db/open.ts';
import { verifyCompany } from '../../server/features/audit/verify-company.ts';
import { noCompany } from '../../server/kernel/audit-log.ts';
import { createTokens } from '../../server/platform/tokens.ts';
import { createCaller, type Caller } from '../support/actor.ts';
import { readZip, rowsOf, type Files } from '../support/export-file.ts';
import { readMails } from '../support/mail-file.ts';
import { endAllProcesses, launch, makeHome, runToEnd, startProcess, type ServiceProcess } from '../support/process.ts';
import { waitUntil } from '../support/waiting.ts';

/* One home with the demo company, whose export becomes a second company beside it. In the order of the tests. */

const home = await makeHome();
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});
const environment = { ...home.environment, SEED_DEMO: 'true' };
const timeoutMs = 120_000;

let first: Files;
let file: string;

const command = [process.execPath, 'server/commands/import-company.ts'];
const run = (...words: string[]) => runToEnd(home.environment, [...command, ...words]);

async function onDatabase<Answer>(body: (db: Db) => Promise<Answer>): Promise<Answer> {
  const isEmbedded = home.databaseUrl === undefined;
  const database = isEmbedded ? await openEmbedded({ folder: home.folder }) : openServer(home.databaseUrl!);
  try {
    return await body(database.db);
  } finally {
    await database.close();
  }
}

async function whileServing<Answer>(body: (service: ServiceProcess) => Promise<Answer>): Promise<Answer> {
  const service = await startProcess(environment);
  try {
    return await body(service);
  } finally {
    service.signal('SIGTERM');
    await service.ended;
  }
}

/** Takes the export of the company in which somebody is an admin. */
async function takeExport(admin: Caller): Promise<Buffer> {
  const { body: asked } = await admin.post('/api/exports/', {});
  for (;;) {
    const { body } = await admin.get(`/api/exports/${asked._id}/`);
    if (body.state === 'finished') {
      const { pathname } = new URL(body.url);
      const bytes = Buffer.from(await (await fetch(new URL(pathname, body.url))).arrayBuffer());
      await admin.delete(`/api/exports/${asked._id}/`);
      return bytes;
    }
    await new Promise((soon) => setTimeout(soon, 50));
  }
}

beforeAll(async () => {
  await whileServing(async (service) => {
    const admin = await signInDemo(service);
    await admin.post('/api/tasklogs/timer/start/', { taskId: 1, description: 'On the slipway' });
    const content = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await admin.patch('/employee/update-picture/1/', { profilePicture: content });
    await admin.put('/api/rates/1/', { validFrom: '2020-01-01', hourlyRate: { minorUnits: 7_000, currency: 'EUR' } });
    const [start, end] = [2, 1].map((minutes) => new Date(Date.now() - minutes * 60_000).toISOString());
    const log = { task_id: 1, employee_id: 1, start_time: start, end_time: end };
    await admin.post('/tasklog/create/', log);
    // Logs keep the rate that they have, whatever is valid later.
    await admin.put('/api/rates/1/', { validFrom: '2020-01-01', hourlyRate: { minorUnits: 9_000, currency: 'EUR' } });
    const bytes = await takeExport(admin);
    first = await readZip(bytes);
    file = join(home.folder, 'demo.zip');
    writeFileSync(file, bytes);
  });
}, timeoutMs);

async function signInDemo(service: ServiceProcess): Promise<Caller> {
  const demo: unknown = JSON.parse(readFileSync(join(home.folder, 'demo-sign-in.json'), 'utf8'));
  const { body } = await createCaller(service.url).post('/login/', demo);
  return createCaller(service.url, body);
}

/** Signs in with a mailed code, and accepts the invitation of the imported company. */
async function joinImported(service: ServiceProcess, email: string): Promise<Caller> {
  const anonymous = createCaller(service.url);
  await anonymous.post('/verify-email/', { email });
  const otp = await waitUntil(() => codeTo(email));
  const { body } = await anonymous.post('/otp-login/', { email, otp });
  const pair = body.access_token ? body : (await anonymous.post('/otp-login/', { email, otp, company_id: 1 })).body;
  const self = createCaller(service.url, pair);
  const { body: list } = await self.get('/api/invitations/');
  const accepted = await self.post(`/api/invitations/${list.invitations[0]._id}/accept/`, {});
  return createCaller(service.url, accepted.body);
}

function codeTo(email: string): string | undefined {
  return readMails(join(home.folder, 'mail.jsonl'))
    .findLast(({ to, text }) => to === email && /\b\d{6}\b/.test(text))
    ?.text.match(/\b\d{6}\b/)?.[0];
}

/** The lines of the second export with the numbers of the first one, row by row: both are in the order of numbers. */
function renumbered(second: Files): Files {
  const numbers = new Map<string, Map<string, string>>();
  for (const [table, { columns }] of Object.entries(catalogue)) {
    const key = Object.entries<Label>(columns).find(([, label]) => label === 'id')?.[0];
    if (key === undefined || !first.has(`${table}.jsonl`)) continue;
    const before = rowsOf(first, table).map((row) => String(row[key]));
    const after = rowsOf(second, table).map((row) => String(row[key]));
    numbers.set(table, new Map(after.map((number, index) => [number, before[index]!])));
  }
  const numberOf = (table: string, number: string) => numbers.get(table)?.get(number) ?? `no ${table} ${number}`;
  const files: Files = new Map();
  for (const table of Object.keys(catalogue) as Table[]) {
    let text = second.get(`${table}.jsonl`);
    if (text === undefined) continue;
    for (const [column, label] of Object.entries<Label>(catalogue[table].columns)) {
      const referred = label === 'id' ? table : isReference(label) ? label.table : undefined;
      if (referred !== undefined && numbers.has(referred))
        text = text.replaceAll(new RegExp(`"${column}":(\\d+)`, 'g'), (_, n) => `"${column}":${numberOf(referred, n)}`);
    }
    text = text
      .replaceAll(/"projectId": (\d+)/g, (_, n) => `"projectId": ${numberOf('projects', n)}`)
      .replaceAll(/"\/tasks\/(\d+)/g, (_, n) => `"/tasks/${numberOf('tasks', n)}`)
      .replaceAll(/\?comment=(\d+)"/g, (_, n) => `?comment=${numberOf('comments', n)}"`)
      .replaceAll(/"\/projects\/(\d+)/g, (_, n) => `"/projects/${numberOf('projects', n)}`)
      .replaceAll(/"\/timesheet-periods\/(\d+)/g, (_, n) => `"/timesheet-periods/${numberOf('timesheet_periods', n)}`);
    files.set(`${table}.jsonl`, text);
  }
  return files;
}

const countCompanies = () =>
  onDatabase(async (db) => {
    const companies = await db.selectFrom('companies').select('company_id').execute();
    const logs = await db.selectFrom('task_logs').select('company_id').distinct().execute();
    return { companies: companies.length, withLogs: logs.length };
  });

/** What verify-totals and verify-audit look for; that those commands find it: verify-totals.test.ts and verify-audit.test.ts. */
async function verifyAll(): Promise<void> {
  const tokens = await createTokens(readFileSync(join(home.folder, 'auth-keys.json'), 'utf8'));
  await onDatabase(async (db) => {
    const companies = await db.selectFrom('companies').select('company_id').execute();
    expect(companies).toHaveLength(2);
    for (const { company_id: companyId } of companies) {
      const { differences, checked } = await verifyTotals(db, companyId);
      expect([differences, checked.logs > 100]).toEqual([[], true]);
      expect((await verifyCounts(db, companyId)).differences).toEqual([]);
    }
    for (const companyId of [noCompany, ...companies.map((row) => row.company_id)])
      expect((await verifyCompany({ db, tokens, companyId }, {})).problem).toBeNull();
  });
}

test('--check says that a file can be imported, and imports nothing', { timeout: timeoutMs }, async () => {
  const { code, stdout, stderr } = await run(file, '--check');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^Harbour Lane Studio, exported at .*: \d+ rows\nIt can be imported: all \d+ rows were stored/,
  );
  expect(await countCompanies()).toEqual({ companies: 1, withLogs: 1 });
});

test('a file that cannot be imported is refused in a sentence', { timeout: timeoutMs }, async () => {
  const bad = join(home.folder, 'bad.zip');
  writeFileSync(bad, readFileSync(file).subarray(0, -400));
  const { code, stderr } = await run(bad);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^\S+ is no complete ZIP archive: .* Nothing was imported\.\n$/),
  ]);
  expect(await run(join(home.folder, 'none.zip'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no file'),
  });
  expect(await run(home.folder)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^\S+ cannot be read: [^\n]+[^.]\. Nothing was imported\.\n$/),
  });
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('import-company') });
  expect(await countCompanies()).toEqual({ companies: 1, withLogs: 1 });
});

test('an import that is killed leaves nothing', { timeout: timeoutMs }, async () => {
  const importing = await launch([...command, file], home.environment, 'exported at');
  importing.signal('SIGKILL');
  expect(await importing.ended).toBe('SIGKILL');
  expect(await countCompanies()).toEqual({ companies: 1, withLogs: 1 });
});

test(
  'an imported company is exported as it was, with other numbers, and its totals agree',
  { timeout: timeoutMs },
  async () => {
    const everywhere = { ...home.environment, HOST: '0.0.0.0', PORT: '3999', SEED_DEMO: 'false' };
    const { code, stdout, stderr } = await runToEnd(everywhere, [...command, file]);
    expect([code, stderr]).toEqual([0, '']);
    // Links lead to what the service with these settings serves.
    const links = await onDatabase((db) =>
      db.selectFrom('notifications').select('link').where('company_id', '>', 1).distinct().execute(),
    );
    expect(links.filter(({ link }) => !/^http:\/\/127\.0\.0\.1:3999\/(tasks|projects)\//.test(link ?? ''))).toEqual([]);
    expect(links).not.toEqual([]);
    expect(stdout).toMatch(/^It is company \d+ now, with \d+ rows\.\n\d+ people are invited/m);
    await verifyAll();

    const { email } = JSON.parse(readFileSync(join(home.folder, 'demo-sign-in.json'), 'utf8'));
    await whileServing(async (service) => {
      const admin = await joinImported(service, email);
      const second = renumbered(await readZip(await takeExport(admin)));
      for (const name of [...first.keys()].filter((one) => one.endsWith('.jsonl')))
        expect([name, second.get(name)]).toEqual([name, first.get(name)]);
      expect(rowsOf(first, 'task_logs').length).toBeGreaterThan(100);
      expect(rowsOf(first, 'task_logs').at(-1)).toMatchObject({ rate_minor_units: 7_000, currency: 'EUR' });
      for (const table of ['timers', 'pictures', 'comments', 'notifications', 'rates', 'timesheet_periods'])
        expect([table, rowsOf(first, table).length > 0]).toEqual([table, true]);
    });
  },
);
