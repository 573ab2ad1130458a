import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { findDemoSignIn, seedDemo } from '../../server/demo/demo.ts';
import { startService } from '../support/service.ts';
import { givenFile, type Script, scriptFolder, startScript } from './run-script.ts';

/*
 * The page shows real calls. Here they are made in its order against the demo company, and each must say what the page
 * says, but for dates, which move with the demo.
 */

const page = readFileSync(join(import.meta.dirname, '../../client-sdk/examples/README.md'), 'utf8');

type Shown = { command: string; says: string[] };

function callsOf(text: string): Shown[] {
  const blocks = [...text.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block]) =>
    block!.split(/^\$ /m).slice(1),
  );
  return blocks.map((block) => {
    const [command, ...says] = block.trimEnd().split('\n');
    return { command: command!, says };
  });
}

const calls = callsOf(page);
const service = await startService({ settings: { webhookNetworks: ['127.0.0.1'] } });
let password = '';

beforeAll(async () => {
  const { services } = service.app;
  const file = join(scriptFolder(), 'demo-sign-in.json');
  await seedDemo(services, file);
  await service.drain();
  service.app.webhookWorker.start();
  ({ password } = (await findDemoSignIn(services, file))!);
  for (const [, name, text] of page.matchAll(/^`(\w+\.csv)`.*?^```csv\n(.*?)^```$/gms)) await givenFile(name!, text!);
});

/** Starts what the page calls; a password comes from here, where there is no terminal. */
function start(command: string): Script {
  const [, options = '', script, rest = ''] = /^node (--env-file=wms\.env )?client-sdk\/examples\/(\S+)(.*)$/.exec(
    command,
  )!;
  const parameters = rest.split(' ').filter((word) => word !== '');
  if (options !== '') return startScript(script!, parameters, settings());
  return startScript(script!, [...parameters, '--password-stdin'], { WMS_URL: service.url }, `${password}\n`);
}

/** What the first call has written. */
function settings(): Record<string, string> {
  const lines = readFileSync(join(scriptFolder(), 'wms.env'), 'utf8').trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => line.split('=') as [string, string]));
}

const withoutDates = (line: string): string =>
  line
    .replaceAll(/\d{4}-\d\d-\d\d( \d\d:\d\d)?/g, 'DATE')
    .replace('\u{feff}', '')
    .trimEnd();

test('every script is shown', () => {
  const scripts = new Set(calls.map(({ command }) => /([\w-]+)\.ts/.exec(command)![1]!));
  expect([...scripts].toSorted()).toEqual([
    'create-api-key',
    'import-csv',
    'import-time-logs',
    'invite-employees',
    'receive-webhooks',
  ]);
});

// One after the other, for each goes on from those before.
test.each(calls)('$command', async ({ command, says }) => {
  const run = start(command);
  const isStopped = says.at(-1) === '^C';
  const lines = says.filter((line) => line !== '^C' && !line.startsWith('Password of '));
  if (isStopped) {
    await run.said(lines.at(-1)!);
    run.signal('SIGINT');
  }
  const { code, stdout, stderr } = await run.ended;
  const said = (stderr + stdout).trimEnd().split('\n');
  expect(said.map(withoutDates).toSorted()).toEqual(lines.map(withoutDates).toSorted());
  expect(code).toBe(lines.some((line) => /^  (?:refused|with errors) +[1-9]/.test(line)) ? 1 : 0);
});
