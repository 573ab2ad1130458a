import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { startRelay } from './relay.ts';
import { givenFile, runScript, scriptFolder, settingsOf } from './run-script.ts';

const service = await startService();
const admin = await service.registerCompany();
const grace = await service.addEmployee(admin, { first_name: 'Grace', last_name: 'Hopper' });
const settings = await settingsOf(service, admin);
const { projectId, taskId } = await startWork(admin, { name: 'Difference Engine' });
const other = await startWork(admin, { name: 'Twice' });
await startWork(admin, { name: 'Twice' });

async function log(employeeId: number, task: number, day: string): Promise<void> {
  const times = { start_time: `${day}T09:00:00Z`, end_time: `${day}T10:30:00Z` };
  const { status } = await admin.post('/tasklog/create/', { task_id: task, employee_id: employeeId, ...times });
  expect(status).toBe(200);
}
await log(grace.employeeId, taskId, '2026-02-28');
await log(admin.employeeId, taskId, '2026-02-01');
await log(admin.employeeId, other.taskId, '2026-02-02');
await log(grace.employeeId, taskId, '2026-03-01');

const exportSheet = (parameters: string[], given = settings) => runScript('export-timesheet.ts', parameters, given);
const read = (name: string) => readFileSync(join(scriptFolder(), name), 'utf8').replace('\u{feff}', '');
const unfinished = () => readdirSync(scriptFolder()).filter((name) => name.endsWith('.part'));
const ada = `${admin.employeeId},Ada Lovelace`;
const hopper = `${grace.employeeId},Grace Hopper`;

test('writes a month to a file that says what is in it, and replaces it only when told to', async () => {
  const name = 'timesheet_2026-02-01_2026-02-28_by_day.csv';
  const first = await exportSheet(['--month', '2026-02']);
  expect(first).toEqual({ code: 0, stdout: '', stderr: `2026-02-01 to 2026-02-28 by day: ${name}\n` });
  const whole =
    'userId,name,date,seconds,hours\r\n' +
    `${ada},2026-02-01,5400,1.5\r\n${ada},2026-02-02,5400,1.5\r\n${hopper},2026-02-28,5400,1.5\r\n` +
    'Total,,,16200,4.5\r\n';
  expect(read(name)).toBe(whole);

  await log(grace.employeeId, taskId, '2026-02-27');
  const second = await exportSheet(['--month', '2026-02']);
  expect(second).toMatchObject({ code: 1, stderr: `${name} is there already. --force replaces it.\n` });
  expect(read(name)).toBe(whole);
  expect((await exportSheet(['--month', '2026-02', '--force'])).code).toBe(0);
  expect(read(name)).toContain('Total,,,21600,6\r\n');
  expect(unfinished()).toEqual([]);
});

test('takes a range, a grouping, a person and a project, and writes to the standard output', async () => {
  const range = ['--from', '2026-02-28', '--to', '2026-03-01', '--output', '-'];
  const [byProject, ofGrace, ofOne] = await Promise.all([
    exportSheet([...range, '--group-by', 'project']),
    exportSheet([...range, '--user', grace.email, '--json', '--group-by', 'employee']),
    exportSheet([
      '--month',
      '2026-02',
      '--project',
      'Difference Engine',
      '--user',
      String(admin.employeeId),
      '--output',
      '-',
    ]),
  ]);
  expect(byProject).toMatchObject({ code: 0, stderr: '' });
  expect(byProject.stdout).toContain(`${projectId},Difference Engine,10800,3\r\n`);
  expect(JSON.parse(ofGrace.stdout)).toMatchObject({
    groupBy: 'employee',
    totalSeconds: 10_800,
    rows: [{ name: 'Grace Hopper' }],
  });
  expect(ofOne.stdout).toContain('Total,,,5400,1.5\r\n');
});

test('writes the last month that is over unless told otherwise', async () => {
  const { code, stderr } = await exportSheet(['--output', 'last.csv']);
  const now = new Date();
  const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7);
  expect(code).toBe(0);
  expect(stderr).toMatch(new RegExp(`^${last}-01 to ${last}-(28|29|30|31) by day: last.csv\n$`));
});

test('leaves no half file behind where the connection breaks, and one that was there as it was', async () => {
  const relay = await startRelay(service.url, '/api/timesheets/', () => 'is torn');
  const torn = { ...settings, WMS_URL: relay.url };
  await givenFile('kept.csv', 'before');
  const [fresh, replaced] = await Promise.all([
    exportSheet(['--month', '2026-02', '--output', 'fresh.csv'], torn),
    exportSheet(['--month', '2026-02', '--output', 'kept.csv', '--force'], torn),
  ]);
  for (const ended of [fresh, replaced]) {
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The connection broke before all was there. Run this again.\n',
    });
  }
  expect(existsSync(join(scriptFolder(), 'fresh.csv'))).toBe(false);
  expect(read('kept.csv')).toBe('before');
  expect(unfinished()).toEqual([]);
});

test('names what it cannot find, and refuses what cannot be meant', async () => {
  const [nobody, none, two, month, half, both, group] = await Promise.all([
    exportSheet(['--user', 'nobody@example.com']),
    exportSheet(['--project', 'Analytical Engine']),
    exportSheet(['--project', 'Twice']),
    exportSheet(['--month', '2026-13']),
    exportSheet(['--from', '2026-02-30', '--to', '2026-03-01']),
    exportSheet(['--month', '2026-02', '--from', '2026-02-01']),
    exportSheet(['--group-by', 'year']),
  ]);
  expect(nobody).toMatchObject({
    code: 1,
    stderr: 'Nobody in this company has the id or the e-mail address "nobody@example.com".\n',
  });
  expect(none.stderr).toContain('No project of this company');
  expect(two.stderr).toContain('Several projects are called "Twice": give the id');
  expect(month).toMatchObject({
    code: 2,
    stderr: '--month takes a month such as 2026-03, not "2026-13". See --help.\n',
  });
  expect([half, both, group].map(({ code }) => code)).toEqual([2, 2, 2]);
});
