import { afterAll, expect, test } from 'vitest';
import { endAllProcesses, makeHome, runToEnd } from '../support/process.ts';

const home = await makeHome({ isNew: true });
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

const commands = [
  'import-company',
  'jobs',
  'keys',
  'migrate',
  'remove-company',
  'restored',
  'verify-audit',
  'verify-totals',
];
const run = (name: string, ...given: string[]) =>
  runToEnd(home.environment, [process.execPath, `server/commands/${name}.ts`, ...given]);

test.each(commands)('%s explains itself, and refuses what it does not know without doing anything', async (name) => {
  const help = await run(name, '--help');
  expect(help).toEqual({ code: 0, stdout: expect.stringContaining(`npm run ${name} -- --help\n`), stderr: '' });
  const refused = await run(name, '--surely-not');
  expect(refused).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(help.stdout) });
});

test('the cluster is not started for a fault that there is not', async () => {
  const command = [process.execPath, 'deploy/cluster/main.ts', '--check', '--only', 'kill,nothing'];
  expect(await runToEnd({}, command)).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^--only takes kill, .*, by comma\n/),
  });
});
