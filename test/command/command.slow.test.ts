import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { givenFile, scriptFolder, settingsOf, type Script } from '../examples/run-script.ts';
import { answer, refuse, startAnswering } from '../sdk/answering.ts';
import { password, startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { openWms } from './wms.ts';

/* The command as its users have it: the published program, as a process, against a real service. */

const service = await startService();
const admin = await service.registerCompany({ firstName: 'Ada' });
const { projectId, taskId } = await startWork(admin, { name: 'Winter fair' });
const wms = await openWms({ WMS_URL: service.url });

/** Signs in by a mailed code, as a person does at the terminal. */
async function signIn(email: string, own = wms, ...more: string[]): Promise<string> {
  const login = own.start(['login', '--email', email, ...more]);
  await login.said('Code: ', 'stderr');
  await service.drain();
  login.type(`${service.mailbox.lastCode(email)}\n`);
  const { code, stdout, stderr } = await login.ended;
  expect(stderr).not.toMatch(/\d{6}/);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}

async function companyName(): Promise<string> {
  const { body } = await admin.get(`/company/${admin.companyId}/details/`);
  return body.company.name;
}

describe('signing in', () => {
  test('is done with a mailed code', async () => {
    expect(await signIn(admin.email)).toBe(
      `Signed in at ${service.url} as ${admin.name} <${admin.email}>, ${await companyName()}.\n`,
    );
  });

  test('asks at a terminal again for a code that was mistyped, as often as the service takes one', async () => {
    const terminal = { NODE_OPTIONS: '--import=data:text/javascript,process.stdin.isTTY=true' };
    const other = await openWms({ WMS_URL: service.url, ...terminal });
    const { email } = await service.addEmployee(admin);
    async function mistype(count: number): Promise<Script> {
      const login = other.start(['login', '--email', email]);
      for (let tries = 0; tries < count; tries += 1) {
        await expect.poll(() => login.stderr().match(/Code: /g)).toHaveLength(tries + 1);
        login.type(tries === 0 ? '12345\n' : '000000\n');
      }
      return login;
    }
    const mistyped = await mistype(4);
    await mistyped.said('The code must be 6 digits.\n', 'stderr');
    await expect.poll(() => mistyped.stderr().match(/The code is wrong/g)).toHaveLength(3);
    await service.drain();
    mistyped.type(`${service.mailbox.lastCode(email)}\n`);
    expect(await mistyped.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(email) });
    const { code, stderr } = await (await mistype(5)).ended;
    expect([code, stderr.match(/Code: /g)]).toEqual([3, expect.objectContaining({ length: 5 })]);
  });

  test('is remembered in a file that only its owner can read', async () => {
    expect((await stat(wms.signInFile)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(wms.signInFile))).mode & 0o777).toBe(0o700);
  });

  test('says who calls, and where', async () => {
    const { code, stdout } = await wms.run(['whoami']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${admin.name} <${admin.email}>, ${await companyName()}\n${service.url}, by a session\n`,
    });
  });

  test('is used at the service where it was made, and at no other', async () => {
    const elsewhere = await wms.run(['whoami'], { WMS_URL: 'http://127.0.0.1:9' });
    expect(elsewhere).toEqual({
      code: 3,
      stdout: '',
      stderr: 'Nobody is signed in at http://127.0.0.1:9: `wms login` signs in, or set WMS_API_KEY.\n',
    });
  });

  test('ends with logout, on the service too', async () => {
    const other = await openWms({ WMS_URL: service.url });
    await signIn(admin.email, other);
    const stored = await readFile(other.signInFile);
    expect(await other.run(['logout'])).toMatchObject({ code: 0, stdout: `Signed out at ${service.url}.\n` });
    expect(String(await readFile(other.signInFile))).not.toContain('Token');
    await writeFile(other.signInFile, stored);
    const { code, stderr } = await other.run(['tasks', 'list']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('(SESSION_ENDED)\nSign in with `wms login`')]);
  });

  test('that was damaged in its file counts as none', async () => {
    const other = await openWms({ WMS_URL: service.url });
    await mkdir(dirname(other.signInFile));
    for (const session of [5, {}, { id: '1', accessToken: 'a' }]) {
      await writeFile(other.signInFile, JSON.stringify({ url: service.url, session }));
      expect(await other.run(['whoami'])).toMatchObject({ code: 3, stdout: '' });
      expect(await other.run(['logout'])).toMatchObject({ code: 0, stdout: 'Nobody was signed in.\n' });
    }
  });

  test('takes a password without showing it, and refuses a wrong one', async () => {
    const other = await openWms({ WMS_URL: service.url });
    const { email } = await service.addEmployee(admin);
    const parameters = ['login', '--email', email, '--password'];
    const wrong = await other.run(parameters, {}, 'not the password\n');
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('(INVALID_CREDENTIALS)')]);
    const right = await other.run(parameters, {}, `${password}\n`);
    expect([right.code, right.stdout + right.stderr]).toEqual([0, expect.not.stringContaining(password)]);
  });

  test('succeeds where it cannot be read afterwards who signed in', async () => {
    const { email } = await service.addEmployee(admin);
    const signedIn = await fetch(`${service.url}/trpc/auth.login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const { result } = (await signedIn.json()) as { result: { data: unknown } };
    const { url } = await startAnswering(answer(result.data), refuse(403, 'FORBIDDEN'));
    const other = await openWms({ WMS_URL: url });
    const login = await other.run(['login', '--email', email, '--password'], {}, `${password}\n`);
    expect(login).toMatchObject({ code: 0, stdout: `Signed in at ${url}.\n` });
    expect(await other.run(['whoami'], { WMS_URL: url })).toMatchObject({ code: 4 });
  });
});

describe('an API key', () => {
  async function makeKey(...scopes: string[]): Promise<string> {
    const { body } = await admin.post('/api/api-keys/', { name: 'Command', scopes });
    return body.key;
  }

  test('is read from the standard input and stored, if it works', async () => {
    const other = await openWms({ WMS_URL: service.url });
    const key = await makeKey('read', 'write');
    const wrong = await other.run(['login', '--key', '-'], {}, 'wms_wrong\n');
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.not.stringContaining('wms_wrong')]);
    await expect(readFile(other.signInFile)).rejects.toThrow('ENOENT');

    const login = await other.run(['login', '--key', '-'], {}, `${key}\n`);
    expect([login.code, login.stdout]).toEqual([0, expect.stringContaining(admin.email)]);
    expect(login.stdout + login.stderr).not.toContain(key);
    // Company and person are those of the key.
    const logged = await other.run(['log', '30m', 'turn', '--on', '2026-03-02']);
    expect([logged.code, logged.stdout]).toEqual([0, expect.stringMatching(/^Logged 30 min on "Turn the crank"/)]);
    expect((await other.run(['logout'])).stdout).toBe(
      'The API key is forgotten here; `wms api-keys revoke` ends it.\n',
    );
  });

  test('on the command line is refused, and not repeated', async () => {
    const { code, stdout, stderr } = await wms.run(['login', '--key', 'wms_secret']);
    expect([code, stdout + stderr]).toEqual([2, expect.not.stringContaining('wms_secret')]);
  });

  test('in WMS_API_KEY goes before what is stored, and says what it lacks', async () => {
    const settings = { WMS_API_KEY: await makeKey('tasks:read') };
    expect((await wms.run(['whoami'], settings)).stdout).toContain('by the API key in WMS_API_KEY');
    const { code, stderr } = await wms.run(['projects', 'create', '--name', 'No'], settings);
    expect([code, stderr]).toEqual([4, expect.stringMatching(/\(SCOPE_REQUIRED\)\nThe key lacks projects:write/)]);
  });
});

test('somebody in several companies says which one', async () => {
  const email = 'two.companies@example.com';
  await service.registerCompany({ name: 'First Works', email });
  await service.registerCompany({ name: 'Second Works', email });
  const other = await openWms({ WMS_URL: service.url });
  expect(await signIn(email, other, '--company', 'second')).toContain(', Second Works.');
  expect((await other.run(['company', 'get'])).stdout).toContain('Second Works');
});

describe('an operation', () => {
  test('answers people with a table, and programs with exactly what the service says', async () => {
    const { code, stdout, stderr } = await wms.run(['tasks', 'list', '--status', 'todo']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [head, row] = stdout.split('\n');
    expect(head).toMatch(/^id {2}title +status +project id/);
    expect(row).toMatch(new RegExp(`^ *${taskId}  Turn the crank +todo +${projectId}`));
    const json = await wms.run(['--json', 'tasks', 'list', '--status', 'todo']);
    const { body } = await admin.get(`/api/tasks/company/${admin.companyId}/?status=todo`);
    expect(JSON.parse(json.stdout)).toEqual(body);
  });

  test('takes names in place of identifiers, and every kind of flag', async () => {
    const flags = ['--project-id', 'winter FAIR', '--title', 'Stand plan', '--estimated-hours', '1.5'];
    const json = ['--input', '{"description":"From JSON","title":"Overridden"}', '--json'];
    const { code, stdout, stderr } = await wms.run(['tasks', 'create', ...flags, '--owner-id', admin.email, ...json]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      projectId,
      title: 'Stand plan',
      estimatedHours: 1.5,
      owner_id: admin.employeeId,
      description: 'From JSON',
    });
    const emptied = await wms.run(['tasks', 'update', 'stand', '--no-estimated-hours', '--json']);
    expect(JSON.parse(emptied.stdout)).toMatchObject({ title: 'Stand plan', estimatedHours: null });
  });

  test('is refused by the service with a code, the flag and a remedy', async () => {
    const { code, stdout, stderr } = await wms.run(['tasks', 'create', '--project-id', '999', '--title', 'x']);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toMatch(
      /\(VALIDATION_FAILED\)\n {2}--project-id .*\n`wms tasks create --help` lists the flags\.\n$/,
    );
    const json = await wms.run(['tasks', 'get', '999', '--json']);
    expect([json.code, JSON.parse(json.stderr)]).toEqual([
      4,
      expect.objectContaining({ code: 'NOT_FOUND', status: 404, operation: 'tasks.get' }),
    ]);
  });

  test('reads every page of a list', async () => {
    for (let count = 0; count < 21; count += 1)
      await admin.post('/api/tasks/', { projectId, title: `Lantern ${count}` });
    const { stdout } = await wms.run(['tasks', 'list', '--q', 'Lantern', '--all', '--json']);
    expect(JSON.parse(stdout)).toHaveLength(21);
    const first = await wms.run(['tasks', 'list', '--q', 'Lantern']);
    expect(first.stdout).toContain('Page 1 of 2, 21 in all: --all shows every one.');
  });

  test('writes a file to its place, and never half of one', async () => {
    const path = join(scriptFolder(), 'times.csv');
    const range = ['--from', '2026-03-01', '--to', '2026-03-31'];
    const { code, stdout } = await wms.run(['timesheets', 'csv', ...range, '--output', path]);
    expect([code, stdout]).toEqual([0, '']);
    const shown = await wms.run(['timesheets', 'csv', ...range]);
    expect(shown.stdout).toBe(String(await readFile(path)));
    expect(shown.stdout).toContain('Total');
  });

  test('writes no file where there can be none, and says so before it asks', async () => {
    const range = ['timesheets', 'csv', '--from', '2026-03-01', '--to', '2026-03-31', '--output'];
    const folder = scriptFolder();
    for (const [path, problem] of [
      [join(folder, 'none/times.csv'), `there is no folder ${join(folder, 'none')}.`],
      [folder, `${folder} is a folder.`],
    ] as const) {
      const refused = await wms.run([...range, path], { WMS_URL: 'http://127.0.0.1:9', WMS_API_KEY: 'wms_any' });
      expect(refused).toMatchObject({ code: 2, stderr: `--output takes a file: ${problem}\n` });
    }
  });

  test('writes into a pipe or device, and does not replace it', async () => {
    const pipe = join(scriptFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const range = ['timesheets', 'csv', '--from', '2026-03-01', '--to', '2026-03-31'];
    const [{ code }, text] = await Promise.all([wms.run([...range, '--output', pipe]), readFile(pipe, 'utf8')]);
    expect([code, text]).toEqual([0, (await wms.run(range)).stdout]);
    expect((await stat(pipe)).isFIFO()).toBe(true);
  });

  test('sends a file by its path', async () => {
    const create = { width: 8, height: 8, channels: 3 as const, background: 'teal' };
    const path = await givenFile('ada.png', await sharp({ create }).png().toBuffer());
    const { code, stderr } = await wms.run(['employees', 'update-picture', 'ada', '--profile-picture', path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const csv = await givenFile(
      'cards.csv',
      'Card ID,Card Name,Card Description,Members,Due Date,List Name,Board Name,Archived\r\n1,Cut,,,,Doing,Fair,false\r\n',
    );
    const flags = ['--source', 'trello', '--time-zone', 'Europe/London', '--date-order', 'YMD', '--dry-run'];
    const { stdout, stderr: problem } = await wms.run(['csv-imports', 'run', '--csv', csv, ...flags, '--json']);
    expect(problem).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ dry_run: true });
  });
});

describe.runIf(existsSync('/dev/full'))('on a disk that is full', () => {
  const run = async (redirection: string, ...parameters: string[]) =>
    wms.runBy(['sh', '-c', `"$0" "$@" ${redirection}`], parameters);

  test('an answer that cannot be written is a failure that says why', async () => {
    const { code, stderr } = await run('>/dev/full', 'tasks', 'list');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^The output cannot be written: .*no space left/)]);
  });

  test('what went wrong is in the exit code, also where it cannot be said', async () => {
    expect(await run('2>/dev/full', 'tasks', 'get', '999999')).toMatchObject({ code: 4 });
  });
});

describe('shortcuts', () => {
  test('log time on days before where nothing is logged yet', async () => {
    const first = await wms.run(['log', '1h30m', 'Turn the crank', '--on', 'yesterday', '--note', 'Cranked']);
    expect(first.stdout).toMatch(/^Logged 1 h 30 min on "Turn the crank": [\d-]+ 09:00 to 10:30\.\n$/);
    const second = await wms.run(['log', '90m', String(taskId), '--on', 'yesterday']);
    expect(second.stdout).toMatch(/ 10:30 to 12:00\.\n$/);
  });

  test('log no time that the clocks skip', async () => {
    const log = ['log', '30m', String(taskId), '--on', '2026-03-29', '--at', '02:30'];
    const refused = await wms.run(log, { TZ: 'Europe/Berlin' });
    expect(refused).toMatchObject({ code: 2, stderr: 'The clocks here skip 02:30 on 2026-03-29: say another --at.\n' });
  });

  test('log time beside what is logged where the calendar of the company is a day ahead', async () => {
    const kiribati = await service.registerCompany();
    await kiribati.put(`/company/${kiribati.companyId}/update/`, { timezone: 'Pacific/Kiritimati' });
    const [one, other] = [await startWork(kiribati), await startWork(kiribati)];
    const settings = { ...(await settingsOf(service, kiribati)), TZ: 'Pacific/Pago_Pago' };
    await wms.run(['log', '30m', String(one.taskId), '--on', '2026-03-10', '--at', '23:15'], settings);
    const { stdout } = await wms.run(['log', '14h30m', String(other.taskId), '--on', '2026-03-10'], settings);
    expect(stdout).toContain(': 2026-03-10 00:00 to 14:30.');
  });

  test('log the first of two times where the clocks are set back, and say by which clock', async () => {
    const log = ['log', '30m', String(taskId), '--on', '2025-10-26', '--at', '02:30'];
    const { stdout } = await wms.run(log, { TZ: 'Europe/Berlin' });
    expect(stdout).toMatch(/: 2025-10-26 02:30 GMT\+0200 to 02:00 GMT\+0100\.\n$/);
  });

  test('that are refused name what was given, and not the fields of the operation behind them', async () => {
    const id = String(taskId);
    for (const [parameters, place] of [
      [['log', '1h', id, '--on', '2999-01-01'], '--on must be at most a day in the future'],
      [['log', '1h', id, '--at=09:00', '--on=2999-01-01'], '--on and --at must be at most a day in the future'],
      [['log', '1h', '999999', '--at', '09:00'], '<task> names nothing in your company'],
      [['timer', 'start', id, '--note', 'x'.repeat(10_001)], '--note must have at most 10000 characters'],
    ] as const)
      expect(await wms.run([...parameters])).toMatchObject({
        code: 4,
        stderr: `The input is not valid. (VALIDATION_FAILED)\n  ${place}\n\`wms ${parameters[0]} --help\` lists the flags.\n`,
      });
  });

  test('log time beside time on a task that was deleted', async () => {
    const { body: task } = await admin.post('/api/tasks/', { projectId, title: 'Logged and deleted' });
    const log = ['--on', '2026-03-10'];
    expect((await wms.run(['log', '1h', String(task._id), ...log])).stdout).toContain(' 09:00 to 10:00.');
    expect((await wms.run(['log', '1h', String(taskId), ...log])).stdout).toContain(' 10:00 to 11:00.');
    await admin.delete(`/api/tasks/${task._id}/`);
    // When the time on the deleted task was cannot be read; that on others is still taken.
    const third = await wms.run(['log', '2h', String(taskId), ...log]);
    expect(third).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(' 11:00 to 13:00.') });
  });

  test('log time before the timer that runs', async () => {
    // By clocks that are far from midnight.
    const TZ = new Date().getUTCHours() < 12 ? 'Etc/GMT-6' : 'Etc/GMT+6';
    const runner = { ...(await settingsOf(service, await service.addEmployee(admin))), TZ };
    await wms.run(['timer', 'start', String(taskId)], runner);
    const timer = JSON.parse((await wms.run(['timer', '--json'], runner)).stdout);
    const log = JSON.parse((await wms.run(['log', '2h', String(taskId), '--json'], runner)).stdout);
    expect(log).toMatchObject({ endTime: timer.startTime, durationSeconds: 7200 });
  });

  test('start and stop a timer', async () => {
    expect((await wms.run(['timer', 'start', 'turn'])).stdout).toMatch(/^The timer runs on "Turn the crank" since /);
    expect((await wms.run(['timer', 'stop'])).stdout).toMatch(/^Logged .* on "Turn the crank"\.\n$/);
  });

  test('succeed with a number where the title of a task cannot be read', async () => {
    const { body: task } = await admin.post('/api/tasks/', { projectId, title: 'Deleted while it is timed' });
    const named = `task ${task._id}`;
    await wms.run(['timer', 'start', String(task._id)]);
    await admin.delete(`/api/tasks/${task._id}/`);
    expect(await wms.run(['timer'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`runs on ${named} since`),
    });
    const stopped = await wms.run(['timer', 'stop']);
    expect(stopped).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(`^Logged .* on ${named}\\.\n$`),
    });

    const { body } = await admin.post('/api/api-keys/', { name: 'Clock', scopes: ['time:read', 'time:write'] });
    const settings = { WMS_API_KEY: body.key };
    const id = String(taskId);
    for (const [parameters, sentence] of [
      [['timer', 'start', id], `The timer runs on task ${id} since `],
      [['timer', 'stop'], `Logged `],
      [['log', '1h', id, '--on', '2026-03-03', '--at', '09:00'], `Logged 1 h on task ${id}: `],
    ] as const) {
      const ended = await wms.run([...parameters], settings);
      expect(ended).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(sentence) });
    }
  });

  test('watch a task until Ctrl-C', async () => {
    const watching = wms.start(['watch', 'task', 'turn the crank', '--json']);
    // It says nothing when it begins: what is written is repeated until it shows.
    await expect
      .poll(
        async () => {
          await admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message: '<p>Hello</p>' });
          return watching.stdout();
        },
        { interval: 200 },
      )
      .toContain('comment.created');
    watching.signal('SIGINT');
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout.split('\n')[0]!)).toMatchObject({ type: 'comment.created', taskId });
  });
});

test.each([
  ['tasks', 'list'],
  ['tasks', 'get', 'Turn'],
  ['log', '1h', 'Turn'],
  ['timer', 'start', 'Turn'],
])('%s %s stops at Ctrl-C where the service says nothing', async (...parameters) => {
  const silent = await startAnswering(() => {});
  const stopped = wms.start(parameters, { WMS_URL: silent.url, WMS_API_KEY: 'wms_any' });
  await expect.poll(() => silent.seen.length).toBeGreaterThan(0);
  stopped.signal('SIGINT');
  expect(await stopped.ended).toMatchObject({ code: 130, stderr: 'Stopped.\n' });
});

test('two commands at once renew one session and leave one that works', async () => {
  const stored = JSON.parse(String(await readFile(wms.signInFile)));
  await writeFile(wms.signInFile, JSON.stringify({ ...stored, session: { ...stored.session, expiresAt: 1 } }));
  const ended = await Promise.all([1, 2, 3].map(() => wms.run(['whoami'])));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const renewed = JSON.parse(String(await readFile(wms.signInFile)));
  expect(renewed.session.rotation).toBe(stored.session.rotation + 1);
  expect((await wms.run(['whoami'])).code).toBe(0);
});
