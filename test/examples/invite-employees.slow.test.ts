import { expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { startRelay, type Fate } from './relay.ts';
import { givenFile, runScript, settingsOf, startScript, type Ended } from './run-script.ts';

const service = await startService();
const admin = await service.registerCompany();
const settings = await settingsOf(service, admin);

type Person = { email: string; designation: string | null; isAdmin: boolean; isTeamLeader: boolean; salary: number };

const invite = (parameters: string[], given = settings) => runScript('invite-employees.ts', parameters, given);
const sums = (invited: number, updated: number, skipped: number, failed: number) =>
  `  invited  ${String(invited).padStart(6)}\n  updated  ${String(updated).padStart(6)}\n` +
  `  skipped  ${String(skipped).padStart(6)}\n  failed   ${String(failed).padStart(6)}\n`;
const jsonOf = ({ stdout }: Ended) => JSON.parse(stdout) as { rows: { line: number; what: string }[] };

async function findPerson(email: string): Promise<Person | undefined> {
  const { body } = await admin.get(`/employee/list/${admin.companyId}/`);
  return (body.employees as Person[]).find((person) => person.email === email);
}

/** The letters that somebody got. */
async function countMails(email: string): Promise<number> {
  await service.drain();
  return service.mailbox.to(email).length;
}

test('invites those who are not there, with what they are to be, once however often it is run', async () => {
  const file = await givenFile(
    'people.csv',
    'E-Mail,First name,Last name,Designation,Salary,Is admin,Is team leader\n' +
      'Grace@example.com,Grace,Hopper,Engineer,52000.50,no,yes\n' +
      `${admin.email},Ada,Lovelace,,,yes,\n` +
      'alan@example.com,Alan,Turing,,,,\n',
  );
  const parameters = ['--column', 'email=E-Mail', file];
  const dry = await invite([...parameters, '--dry-run']);
  expect(dry).toMatchObject({ code: 0, stderr: '' });
  expect(dry.stdout).toContain(`Nothing was done; it would be:\n${sums(2, 0, 1, 0)}`);
  expect(await findPerson('alan@example.com')).toBeUndefined();

  const first = await invite(parameters);
  expect(first).toEqual({
    code: 0,
    stderr: '',
    stdout: `line 2: grace@example.com was invited as team leader\nline 3: ${admin.email} is there already\n${sums(2, 0, 1, 0)}`,
  });
  const grace = { designation: 'Engineer', salary: 52_000.5, isTeamLeader: true, isAdmin: false };
  expect(await findPerson('grace@example.com')).toMatchObject(grace);
  expect(await findPerson('alan@example.com')).toMatchObject({ isTeamLeader: false, isAdmin: false });
  expect(await countMails('grace@example.com')).toBe(1);

  const second = await invite([...parameters, '--json']);
  expect(second.code).toBe(0);
  expect(jsonOf(second).rows.map(({ what }) => what)).toEqual(['skipped', 'skipped', 'skipped']);
  expect(await countMails('grace@example.com')).toBe(1);
});

test('names what is wrong with a file by line, and invites nobody then', async () => {
  const file = await givenFile(
    'bad.csv',
    'email,first_name,last_name,salary,is_admin\n' +
      'joan@example.com,Joan,Clarke,,\n' +
      'joan(at)example.com,,Clarke,much,maybe\n' +
      'JOAN@example.com,Joan,Clarke,,,\n',
  );
  expect(await invite([file])).toEqual({
    code: 1,
    stdout: '',
    stderr: [
      'line 3: "joan(at)example.com" is no e-mail address',
      'line 3: first_name is empty',
      'line 3: salary must be a number such as 52000 or 52000.50, not "much"',
      'line 3: is_admin must be yes or no, not "maybe"',
      'line 4: has 6 cells, the header has 5',
      'line 4: the e-mail address is on line 2 already',
      'Nobody was invited. Correct the file and run this again.\n',
    ].join('\n'),
  });
  expect(await findPerson('joan@example.com')).toBeUndefined();
});

test('goes on after one who cannot be invited, and says whom', async () => {
  // What the service refuses and the script does not know.
  const file = await givenFile(
    'one.csv',
    'email,first_name,last_name\nkurt@-example.com,Kurt,Gödel\nemmy@example.com,Emmy,Noether\n',
  );
  const { code, stdout } = await invite([file]);
  expect(stdout).toBe(`line 2: kurt@-example.com failed: email must be an e-mail address\n${sums(1, 0, 0, 1)}`);
  expect(code).toBe(1);
  expect(await findPerson('emmy@example.com')).toBeDefined();
});

test('skips one who came in between, and one who was deleted', async () => {
  const former = await service.addEmployee(admin, { email: 'former@example.com' });
  await admin.delete(`/api/employees/${former.employeeId}/`);
  const text = 'email,first_name,last_name\nformer@example.com,Kurt,Gödel\nsonja@example.com,Sonja,Kowalewski\n';
  const file = await givenFile('between.csv', text);
  // The answer to the list, which is read first, is as old as it can be: somebody adds her before it arrives.
  const relay = await startRelay(service.url, '/trpc/employees.list', async (): Promise<Fate> => {
    await admin.post('/employee/add/', {
      first_name: 'Sonja',
      last_name: 'K',
      email: 'sonja@example.com',
      companyId: admin.companyId,
    });
    return 'passes';
  });
  const { code, stdout } = await invite([file], { ...settings, WMS_URL: relay.url });
  expect(stdout).toBe(
    'line 2: former@example.com was deleted from the company: restore them there\n' +
      `line 3: sonja@example.com is there already\n${sums(0, 0, 2, 0)}`,
  );
  expect(code).toBe(0);
});

test('that is killed between an invitation and a role says so when it is run again, and can make that good', async () => {
  const text =
    'email,first_name,last_name,is_team_leader\nlise@example.com,Lise,Meitner,yes\nida@example.com,Ida,Noddack,\n';
  const file = await givenFile('killed.csv', text);
  const relay = await startRelay(service.url, '/trpc/employees.create', () => 'is held');
  const run = startScript('invite-employees.ts', [file], { ...settings, WMS_URL: relay.url });
  await relay.kept;
  run.signal('SIGKILL');
  await run.ended;
  expect(await findPerson('lise@example.com')).toMatchObject({ isTeamLeader: false });

  const again = await invite([file]);
  expect(again.code).toBe(0);
  expect(again.stdout).toBe(
    `line 2: lise@example.com is there already, but is not team leader: --update-roles changes that\n${sums(1, 0, 1, 0)}`,
  );
  expect(await findPerson('lise@example.com')).toMatchObject({ isTeamLeader: false });
  const updated = await invite([file, '--update-roles']);
  expect(updated.stdout).toContain(`line 2: lise@example.com is team leader now\n`);
  expect(await findPerson('lise@example.com')).toMatchObject({ isTeamLeader: true });
  expect(await countMails('lise@example.com')).toBe(1);
});

test('is for admins', async () => {
  const member = await service.addEmployee(admin);
  const file = await givenFile('more.csv', 'email,first_name,last_name\nhedy@example.com,Hedy,Lamarr\n');
  const { code, stderr } = await invite([file], await settingsOf(service, member));
  expect(code).toBe(1);
  expect(stderr).toBe('Only an admin of the company may do this.\n1 row left. Run the same command again to go on.\n');
  expect(await findPerson('hedy@example.com')).toBeUndefined();
});

test('stops at Ctrl-C after the person who is being invited, and counts them', async () => {
  const text =
    'email,first_name,last_name,is_team_leader\nmaria@example.com,Maria,Goeppert,yes\nrita@example.com,Rita,Levi,\n';
  const file = await givenFile('stopped.csv', text);
  const invited = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const relay = await startRelay(service.url, '/trpc/employees.create', async (): Promise<Fate> => {
    invited.resolve();
    await answered.promise;
    return 'passes';
  });
  const run = startScript('invite-employees.ts', [file], { ...settings, WMS_URL: relay.url });
  await invited.promise;
  run.signal('SIGINT');
  await run.said('Stopping', 'stderr');
  answered.resolve();
  const { code, stdout, stderr } = await run.ended;
  expect(code).toBe(1);
  expect(stdout).toBe(`line 2: maria@example.com was invited as team leader\n${sums(1, 0, 0, 0)}`);
  expect(stderr).toContain('Stopped.\n1 row left. Run the same command again to go on.\n');
  expect(await findPerson('maria@example.com')).toMatchObject({ isTeamLeader: true });
  expect(await findPerson('rita@example.com')).toBeUndefined();
});
