import { describe, expect, test } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { logHours, monday, setPolicy, submit } from '../support/periods.ts';
import { findFreePort } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { startRelay, type Fate } from './relay.ts';
import { givenFile, runScript, settingsOf, startScript, type Ended } from './run-script.ts';

const service = await startService();
const admin = await service.registerCompany();
const grace = await service.addEmployee(admin, { first_name: 'Grace', last_name: 'Hopper' });
const { projectId, taskId } = await startWork(admin, { allocatedHours: 5 });
const settings = await settingsOf(service, admin);
const elsewhere = await service.registerCompany({ name: 'Elsewhere' });
const foreign = (await startWork(elsewhere)).taskId;

const script = 'import-time-logs.ts';
const runImport = (parameters: string[], given = settings) => runScript(script, parameters, given);
const jsonOf = ({ stdout }: Ended) => JSON.parse(stdout) as Record<string, unknown>;

async function logsOf(
  actor: Actor,
  task: number,
): Promise<{ startTime: string; endTime: string; description: string }[]> {
  return (await actor.get(`/taskLogs/task/${task}/`)).body.taskLogs;
}

const startMs = Date.parse('2025-01-06T00:00:00Z');

/** Rows of ten minutes, one after the other. */
function rowsOf(howMany: number, task: number, who: number | string): string {
  const at = (index: number) => new Date(startMs + index * 600_000).toISOString();
  const rows = Array.from({ length: howMany }, (_, index) => `${task},${who},${at(index)},${at(index + 1)},Gears\n`);
  return `task_id,employee_id,start,end,description\n${rows.join('')}`;
}

describe('a file', () => {
  test('is imported once, however often that is run, and reported', async () => {
    const file = await givenFile(
      'week.csv',
      'Ticket;Email;Start;End;Description\r\n' +
        `${taskId};${grace.email.toUpperCase()};2026-03-02 09:00;2026-03-02 12:15;"Cut ""gears"",\r\nfiled them"\r\n` +
        `${taskId};${grace.email};2026-03-02 13:00;2026-03-02 17:30;\r\n` +
        `${taskId};${grace.email};2026-03-02 09:00;2026-03-02 11:00;again\r\n`,
    );
    const parameters = ['--column', 'task_id=Ticket', '--timezone', 'Europe/Berlin', file];
    const first = await runImport(parameters);
    expect(first).toEqual({
      code: 0,
      stderr: '',
      stdout:
        'week.csv: 3 rows\n  created          2\n  skipped          1   line 5\n  refused          0\n\n' +
        'Working hours of these days:\n  Grace Hopper  2026-03-02    7.75\n\n' +
        `Projects over their allocation:\n  Difference Engine (${projectId}): 7.75 of 5 hours\n`,
    });
    const stored = await logsOf(admin, taskId);
    expect(stored).toMatchObject([
      { startTime: '2026-03-02T12:00:00.000Z', description: null },
      {
        startTime: '2026-03-02T08:00:00.000Z',
        endTime: '2026-03-02T11:15:00.000Z',
        description: 'Cut "gears",\nfiled them',
      },
    ]);

    const second = await runImport([...parameters, '--json']);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(jsonOf(second)).toEqual({
      file: 'week.csv',
      status: 'done',
      rows: 3,
      created: 0,
      skipped: [
        { line: 2, reason: 'logged already' },
        { line: 4, reason: 'logged already' },
        { line: 5, reason: 'same task, person and start as line 2' },
      ],
      refused: [],
      days: [{ employeeId: grace.employeeId, name: 'Grace Hopper', date: '2026-03-02', workingHours: 7.75 }],
      exceededProjects: [{ projectId, name: 'Difference Engine', allocatedHours: 5, loggedHours: 7.75 }],
    });
    expect(await logsOf(admin, taskId)).toEqual(stored);
  });

  test('of which a row is wrong is not sent, and each such row is named by its line', async () => {
    const task = await addTask(admin, projectId);
    const former = await service.addEmployee(admin, { first_name: 'Joan', last_name: 'Clarke' });
    await admin.patch(`/api/employees/${former.employeeId}/`, { is_active: false });
    const good = `${task},${grace.employeeId},2026-03-04T09:00Z,2026-03-04T10:00Z\n`;
    const text =
      'task_id,employee_id,start,end\n' +
      good +
      `gears,${elsewhere.employeeId},2026-03-04T09:00Z,2026-03-04T10:00Z\n` +
      `${task},${former.employeeId},2026-03-04T09:00,2026-03-04T10:00Z\n` +
      `${task},,2026-03-04T09:00Z,2026-03-04T09:00Z\n` +
      `${task},${grace.employeeId},2026-03-04T09:00Z,2026-03-05T09:01Z,more\n` +
      `${task},${grace.employeeId},2126-03-04T09:00Z,2126-03-04T10:00Z\n`;
    const refused = await runImport([await givenFile('bad.csv', text)]);
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        'line 3: task_id must be a number, not "gears"',
        `line 3: "${elsewhere.employeeId}" is no employee of this company`,
        'line 4: Joan Clarke is not active: only active employees get time',
        'line 4: start "2026-03-04T09:00" has no offset: write one, or give --timezone Europe/Berlin',
        'line 5: names nobody: employee_id and email are empty',
        'line 5: end must be after start',
        'line 6: has 5 cells, the header has 4',
        'line 6: end must be at most 24 hours after start',
        'line 7: end must be at most a day in the future',
        'Nothing was sent. Correct the file and run this again.\n',
      ].join('\n'),
    });
    expect(await logsOf(admin, task)).toEqual([]);
  });

  test('with tasks that are not there is imported without their rows, which are named', async () => {
    const task = await addTask(admin, projectId);
    const row = (id: number, hour: string) => `${id},2026-03-05T${hour}:00Z,2026-03-05T${hour}:30Z\n`;
    const rows = [row(task, '09'), row(foreign, '10'), row(task, '11'), row(999_999, '12'), row(task, '13')];
    const file = await givenFile('foreign.csv', `task_id,start,end\n${rows.join('')}`);
    const parameters = ['--employee', grace.email, file];
    const problems = [
      `line 3: task_id ${foreign} names nothing in your company`,
      'line 5: task_id 999999 names nothing in your company\n',
    ].join('\n');

    const dry = await runImport([...parameters, '--dry-run']);
    expect(dry).toMatchObject({ code: 1, stdout: '' });
    expect(dry.stderr).toBe(`${problems}Nothing was sent. Correct the file and run this again.\n`);
    expect(await logsOf(admin, task)).toEqual([]);

    const { code, stdout, stderr } = await runImport(parameters);
    expect(code).toBe(1);
    expect(stderr).toBe(problems);
    expect(stdout).toContain('  created          3\n  skipped          0\n  refused          2   lines 3, 5\n');
    expect((await logsOf(admin, task)).map(({ startTime }) => startTime.slice(11, 13))).toEqual(['13', '11', '09']);
    expect(await logsOf(elsewhere, foreign)).toEqual([]);
  });

  test('with rows on locked days is imported without them, which are named', async () => {
    const task = await addTask(admin, projectId);
    const joan = await service.addEmployee(admin, { first_name: 'Joan' });
    await setPolicy(admin, { period: 'week', weekStart: 1 });
    await logHours(joan, task, monday);
    expect((await submit(joan)).status).toBe(200);
    const row = (day: string) => `${task},${joan.email},${day}T12:00Z,${day}T13:00Z\n`;
    const file = await givenFile('locked.csv', `task_id,email,start,end\n${row(monday)}${row('2026-04-01')}`);
    const { code, stdout, stderr } = await runImport([file]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^line 2: .*2026-03-02.* locked/)]);
    expect(stdout).toContain('  created          1\n  skipped          0\n  refused          1   line 2\n');
  });

  test('is only checked by --dry-run', async () => {
    const task = await addTask(admin, projectId);
    const file = await givenFile('dry.csv', rowsOf(3, task, admin.email));
    const dry = await runImport(['--dry-run', file]);
    expect(dry).toEqual({ code: 0, stderr: '', stdout: 'dry.csv: 3 rows of 1 person can be sent; nothing was.\n' });
    expect(await logsOf(admin, task)).toEqual([]);
  });

  test('of others is refused for those who may only log their own time, whose own rows are imported', async () => {
    const task = await addTask(admin, projectId);
    const row = (id: number) => `${task},${id},2026-03-06T09:00Z,2026-03-06T10:00Z\n`;
    const text = `task_id,employee_id,start,end\n${row(admin.employeeId)}${row(grace.employeeId)}`;
    const file = await givenFile('others.csv', text);
    const { code, stdout, stderr } = await runImport([file], await settingsOf(service, grace));
    expect(code).toBe(1);
    expect(stderr).toBe('line 2: Only a team leader or an admin may write the time of somebody else.\n');
    expect(stdout).toContain('  created          1\n');
    const reader = await runImport([file], await settingsOf(service, grace, ['read']));
    expect(reader.stderr).toContain('The key in WMS_API_KEY may not do this.');
  });
});

describe('much time', () => {
  test('goes in batches of one person each, with a line for each tenth of it in a log', async () => {
    const task = await addTask(admin, projectId);
    const body = (text: string) => text.slice(text.indexOf('\n') + 1);
    const text = rowsOf(2_500, task, admin.employeeId) + body(rowsOf(500, task, grace.email));
    const { code, stdout, stderr } = await runImport([await givenFile('year.csv', text)]);
    expect(stderr).toBe('1,000 of 3,000 rows\n2,000 of 3,000 rows\n2,500 of 3,000 rows\n3,000 of 3,000 rows\n');
    expect(code).toBe(0);
    expect(stdout).toContain('year.csv: 3,000 rows\n  created      3,000\n  skipped          0\n');
    expect(stdout).toContain('  Ada Lovelace  2025-01-06   24.00\n');
    expect(await logsOf(admin, task)).toHaveLength(3_000);
  });

  test('with long descriptions is not too much for one request', async () => {
    const task = await addTask(admin, projectId);
    const long = 'é'.repeat(9_999);
    const file = await givenFile('long.csv', rowsOf(120, task, admin.employeeId).replaceAll('Gears', long));
    const { code, stdout } = await runImport([file]);
    expect(stdout).toContain('  created        120\n');
    expect(code).toBe(0);
  });

  test('is all there and nothing twice when a run is killed after a batch that nobody heard of, and run again', async () => {
    const task = await addTask(admin, projectId);
    const file = await givenFile('killed.csv', rowsOf(600, task, grace.email));
    const relay = await startRelay(service.url, '/trpc/taskLogs.bulkCreate', (number) =>
      number === 3 ? 'is held' : 'passes',
    );
    const first = startScript(script, ['--batch-size', '100', file], { ...settings, WMS_URL: relay.url });
    await relay.kept;
    await first.said('200 of 600 rows\n', 'stderr');
    first.signal('SIGKILL');
    expect((await first.ended).code).toBe('SIGKILL');
    expect(await logsOf(admin, task)).toHaveLength(300);

    const second = await runImport(['--batch-size', '100', '--json', file]);
    expect(second.code).toBe(0);
    expect(jsonOf(second)).toMatchObject({
      created: 300,
      skipped: { length: 300, 0: { line: 2 }, 299: { line: 301 } },
    });
    const stored = await logsOf(admin, task);
    expect(new Set(stored.map(({ startTime }) => startTime)).size).toBe(600);
    expect(stored).toHaveLength(600);
    expect((await admin.get(`/taskLogs/task/${task}/`)).body.totalSeconds).toBe(600 * 600);
  });

  test('is not reported as skipped where only an answer was lost', async () => {
    const task = await addTask(admin, projectId);
    const file = await givenFile('lost.csv', rowsOf(30, task, grace.email));
    const relay = await startRelay(service.url, '/trpc/taskLogs.bulkCreate', (number) =>
      number === 2 ? 'is lost' : 'passes',
    );
    const { code, stdout } = await runImport(['--batch-size', '10', file], { ...settings, WMS_URL: relay.url });
    expect(stdout).toContain('  created         30\n  skipped          0\n');
    expect(code).toBe(0);
  });

  test('stops at Ctrl-C after the batch under way, and says what is stored and how to go on', async () => {
    const task = await addTask(admin, projectId);
    const file = await givenFile('stopped.csv', rowsOf(300, task, grace.email));
    const stored = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const relay = await startRelay(service.url, '/trpc/taskLogs.bulkCreate', async (number): Promise<Fate> => {
      if (number !== 2) return 'passes';
      stored.resolve();
      await answered.promise;
      return 'passes';
    });
    const run = startScript(script, ['--batch-size', '100', '--json', file], { ...settings, WMS_URL: relay.url });
    await stored.promise;
    run.signal('SIGINT');
    await run.said('Stopping', 'stderr');
    answered.resolve();
    const ended = await run.ended;
    expect(await logsOf(admin, task)).toHaveLength(200);
    expect(ended.code).toBe(1);
    expect(jsonOf(ended)).toMatchObject({ status: 'stopped', rows: 300, created: 200 });
    expect(ended.stderr).toBe(
      '100 of 300 rows\nStopping, when the rows under way are stored. Ctrl-C again ends at once.\n200 of 300 rows\nStopped.\n' +
        '200 of 300 rows are stored. Run the same command again to go on: what is there already is skipped.\n',
    );

    const second = await runImport(['--json', file]);
    expect(jsonOf(second)).toMatchObject({ status: 'done', created: 100, skipped: { length: 200 } });
    expect(await logsOf(admin, task)).toHaveLength(300);
  });

  test('ends at once at a second Ctrl-C', async () => {
    const task = await addTask(admin, projectId);
    const file = await givenFile('ended.csv', rowsOf(20, task, grace.email));
    const relay = await startRelay(service.url, '/trpc/taskLogs.bulkCreate', () => 'is held');
    const run = startScript(script, ['--batch-size', '10', file], { ...settings, WMS_URL: relay.url });
    await relay.kept;
    run.signal('SIGINT');
    await run.said('Stopping', 'stderr');
    run.signal('SIGINT');
    expect((await run.ended).code).toBe(130);
    expect(await logsOf(admin, task)).toHaveLength(10);
  });

  test('counts rows as done that are stored, not those that are refused', async () => {
    const task = await addTask(admin, projectId);
    const rows = rowsOf(100, task, grace.email);
    const file = await givenFile(
      'partly.csv',
      rows + rowsOf(100, 999_999, admin.email).split('\n').slice(1).join('\n'),
    );
    const { code, stdout, stderr } = await runImport(['--batch-size', '100', file]);
    expect(code).toBe(1);
    expect(stdout).toContain('  created        100\n  skipped          0\n  refused        100');
    expect(stderr.split('\n').filter((line) => / of 200 rows/.test(line))).toEqual(['100 of 200 rows']);
  });

  test('that a service no longer answers for ends with what is stored at least', async () => {
    const task = await addTask(admin, projectId);
    const file = await givenFile('cut.csv', rowsOf(30, task, grace.email));
    const relay = await startRelay(service.url, '/trpc/taskLogs.bulkCreate', (number) =>
      number >= 2 ? 'is lost' : 'passes',
    );
    const { code, stderr } = await runImport(['--batch-size', '10', file], { ...settings, WMS_URL: relay.url });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^No answer from .*\nAt least 10 of 30 rows are stored\. Run the same command again/);
    expect((await logsOf(admin, task)).length).toBeGreaterThanOrEqual(10);
  });
});

test('files that are none, and calls that cannot be meant, are refused before anything else', async () => {
  const nowhere = { ...settings, WMS_URL: `http://127.0.0.1:${await findFreePort()}` };
  const file = await givenFile('fine.csv', rowsOf(1, taskId, admin.email));
  const [absent, hours, none, two, zone, size] = await Promise.all([
    runImport(['absent.csv'], nowhere),
    runImport([await givenFile('hours.csv', 'Date,Hours\n')], nowhere),
    runImport([], nowhere),
    runImport([file, file], nowhere),
    runImport(['--timezone', 'Mars/Base', file], nowhere),
    runImport(['--batch-size', '1001', file], nowhere),
  ]);
  expect(absent).toMatchObject({ code: 1, stderr: 'There is no absent.csv.\n' });
  expect(hours).toMatchObject({
    code: 1,
    stderr: 'hours.csv has no column task_id, only "Date", "Hours". --column says what it calls it.\n',
  });
  expect([none, two, zone, size].map(({ code }) => code)).toEqual([2, 2, 2, 2]);
  expect(zone.stderr).toContain('--timezone takes a name such as Europe/Berlin, not "Mars/Base"');
});
