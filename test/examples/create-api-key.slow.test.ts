import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callerWithKey } from '../support/api-key.ts';
import { password, startService } from '../support/service.ts';
import { runScript, scriptFolder, startProgram } from './run-script.ts';

const service = await startService();
const email = 'both@example.com';
const { companyId } = await service.registerCompany({ email });
// As names of before could be.
await service.database.db
  .updateTable('companies')
  .set({ name: 'First\u009B2J' })
  .where('company_id', '=', companyId)
  .execute();
const second = await service.registerCompany({ name: 'Second', email });
await service.signIn(email, second.companyId);

const script = 'create-api-key.ts';
const here = ['--url', service.url, '--email', email];
const fromStdin = [...here, '--password-stdin'];
const company = ['--company', String(second.companyId)];
const path = (name: string) => join(scriptFolder(), name);

async function sessionsLeft(): Promise<number> {
  const { sessions } = (await service.as(second.pair).get('/api/sessions/')).body as { sessions: unknown[] };
  return sessions.length;
}

test('writes settings for the other scripts that only their owner can read, and prints no key', async () => {
  const before = await sessionsLeft();
  const made = await runScript(
    script,
    [...fromStdin, ...company, '--days', '7', '--output', 'own.env'],
    {},
    `${password}\n`,
  );
  expect(made.code).toBe(0);
  expect(made.stdout).toBe('node --env-file=own.env SCRIPT …\n');
  expect(statSync(path('own.env')).mode & 0o777).toBe(0o600);
  const text = readFileSync(path('own.env'), 'utf8');
  expect(text).toMatch(new RegExp(`^WMS_URL=${service.url}\nWMS_API_KEY=wms_\\S+\n$`));
  expect(made.stderr).not.toContain('wms_');
  // The session in which it was made has ended.
  expect(await sessionsLeft()).toBe(before);

  const { keys } = (await service.as(second.pair).get('/api/api-keys/')).body;
  expect(keys).toMatchObject([{ name: expect.stringMatching(/^Scripts on /), scopes: ['read', 'write'] }]);
  const daysLeft = (Date.parse(keys[0].expiresAt) - Date.now()) / (24 * 3600 * 1000);
  expect(daysLeft).toBeGreaterThan(6.9);
  expect(daysLeft).toBeLessThanOrEqual(7);

  const again = await runScript(script, [...fromStdin, ...company, '--output', 'own.env'], {}, password);
  expect(again).toMatchObject({ code: 1, stderr: 'own.env is there already. --force replaces it.\n' });
  expect(readFileSync(path('own.env'), 'utf8')).toBe(text);

  const wms = join(import.meta.dirname, '../../client-sdk/command/main.ts');
  const used = await startProgram(process.execPath, ['--env-file=own.env', wms, 'whoami', '--json']).ended;
  expect(used).toMatchObject({ code: 0, stderr: '' });
});

test('makes a key of single areas, which can do nothing else', async () => {
  const made = await runScript(
    script,
    [...fromStdin, ...company, '--scopes', 'time:read, projects:read', '--name', 'Hours', '--output', 'hours.env'],
    {},
    password,
  );
  expect(made).toMatchObject({ code: 0, stdout: 'node --env-file=hours.env SCRIPT …\n' });
  const [, key] = /WMS_API_KEY=(\S+)/.exec(readFileSync(path('hours.env'), 'utf8'))!;
  const holder = callerWithKey(service.url, key!);
  expect((await holder.get('/api/api-keys/current/')).body.key.scopes).toEqual(['time:read', 'projects:read']);
  expect((await holder.get(`/api/projects/company/${second.companyId}/`)).status).toBe(200);
  expect((await holder.get(`/api/tasks/company/${second.companyId}/`)).body.missingScopes).toEqual(['tasks:read']);
});

test('leaves no file where there is no key', async () => {
  const wrong = await runScript(script, [...fromStdin, ...company, '--output', 'wrong.env'], {}, 'wrong');
  expect(wrong).toMatchObject({ code: 1, stdout: '', stderr: 'The e-mail address or the password is wrong.\n' });
  const scopes = await runScript(
    script,
    [...fromStdin, ...company, '--scopes', 'read,everything', '--output', 'wrong.env'],
    {},
    password,
  );
  expect(scopes).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^scopes\.1 must be one of read, write, time:read, .*login\n$/),
  });
  expect(existsSync(path('wrong.env'))).toBe(false);
});

test('asks nobody where there is no terminal, and says what to do instead', async () => {
  const [password, choice] = await Promise.all([
    runScript(script, [...here, '--output', 'none.env']),
    runScript(script, [...fromStdin, '--output', 'none.env'], {}, 'correct horse battery staple'),
  ]);
  expect(password.code).toBe(2);
  expect(password.stderr).toContain('Set WMS_API_KEY, or sign in with --email and --password-stdin');
  expect(choice.code).toBe(2);
  expect(choice.stderr).toContain(`  ${second.companyId}  Second\n`);
  expect(choice.stderr).toContain('  First\u{fffd}2J\n');
  expect(choice.stderr).toContain('Say which company is meant: --company');
});

// Of util-linux, which every Linux has: runs a program in a terminal of its own.
describe.skipIf(!existsSync('/usr/bin/script'))('in a terminal', () => {
  const command = [process.execPath, join(import.meta.dirname, '../../client-sdk/examples', script)].join(' ');
  const inTerminal = (parameters: string[]) =>
    startProgram('/usr/bin/script', ['-qec', `${command} ${parameters.join(' ')}`, '/dev/null']);

  test('asks for the password and shows nothing of it, then which company is meant', async () => {
    const run = inTerminal([...here, '--output', 'asked.env']);
    await run.said(`Password of ${email}: `);
    run.type(`${password}\r`);
    await run.said('Company: ');
    run.type(`${second.companyId}\r`);
    const { code, stdout } = await run.ended;
    expect(stdout).toContain('The key is in asked.env');
    expect(stdout).not.toContain(password.slice(0, 7));
    expect(code).toBe(0);
    const [, key] = /WMS_API_KEY=(\S+)/.exec(readFileSync(path('asked.env'), 'utf8'))!;
    const { body } = await callerWithKey(service.url, key!).get('/api/api-keys/current/');
    expect(body.company.company_id).toBe(second.companyId);
  });

  test('can be left by Ctrl-C at the question', async () => {
    const run = inTerminal([...here, '--output', 'left.env']);
    await run.said(`Password of ${email}: `);
    run.type('\u0003');
    const { code, stdout } = await run.ended;
    expect(code).toBe(1);
    expect(stdout).toContain('Stopped.');
    expect(existsSync(path('left.env'))).toBe(false);
  });
});
