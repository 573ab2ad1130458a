import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findFreePort } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { givenFile, runScript, settingsOf } from './run-script.ts';

const service = await startService();
const times = await givenFile('times.csv', 'task_id,employee_id,start,end\n1,1,2026-03-02T09:00Z,2026-03-02T10:00Z\n');
const people = await givenFile('people.csv', 'email,first_name,last_name\njoan@example.com,Joan,Clarke\n');

/** Each script with the arguments that it needs to reach the service. */
const calls: Record<string, string[]> = {
  'create-api-key.ts': ['--email', 'ada@example.com', '--password-stdin'],
  'import-csv.ts': ['--source', 'toggl', '--time-zone', 'UTC', '--date-order', 'YMD', times],
  'import-time-logs.ts': [times],
  'invite-employees.ts': [people],
  'receive-webhooks.ts': [],
};
const names = readdirSync(join(import.meta.dirname, '../../client-sdk/examples')).filter((name) =>
  name.endsWith('.ts'),
);

test('every script is held to what follows', () => {
  expect(Object.keys(calls)).toEqual(names.toSorted());
});

describe.each(names)('%s', (name) => {
  const parameters = calls[name]!;
  const settings = { WMS_API_KEY: 'wms_none' };

  test('shows its help, and refuses what it does not know', async () => {
    const [help, unknown] = await Promise.all([runScript(name, ['--help']), runScript(name, ['--no-such-option'])]);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain(`  node ${name} [options]`);
    expect(help.stdout).toContain('WMS_API_KEY');
    expect(unknown).toEqual({ code: 2, stdout: '', stderr: "Unknown option '--no-such-option'. See --help.\n" });
  });

  test('says so where nothing answers, and where the proof is refused', async () => {
    const away = `http://127.0.0.1:${await findFreePort()}`;
    const [unanswered, refused] = await Promise.all([
      runScript(name, [...parameters, '--url', away], settings, 'secret'),
      runScript(name, [...parameters, '--url', service.url], settings, 'secret'),
    ]);
    expect(unanswered.code).toBe(1);
    expect(unanswered.stderr).toContain(`No answer from ${away}. Is the service running there`);
    expect(refused.code).toBe(1);
    const reason = name === 'create-api-key.ts' ? 'password is wrong' : 'The key in WMS_API_KEY is refused';
    expect(refused.stderr).toContain(reason);
    expect(refused.stderr).not.toMatch(/\n\s+at /);
  });
});

test('what answers at a wrong port is told from the service, and what is no key from a refused one', async () => {
  const page = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
  ).listen(0, '127.0.0.1');
  await once(page, 'listening');
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
  const [elsewhere, noKey] = await Promise.all([
    runScript('receive-webhooks.ts', ['--url', url], { WMS_API_KEY: 'wms_none' }),
    runScript('receive-webhooks.ts', ['--url', service.url], { WMS_API_KEY: 'Bearer-12345' }),
  ]);
  page.close();
  expect(elsewhere).toMatchObject({
    code: 1,
    stderr: `${url} answers, but is not the service. Are the host and the port in --url or WMS_URL right?\n`,
  });
  expect(noKey.code).toBe(2);
  expect(noKey.stderr).toMatch(/^WMS_API_KEY is no key of this service.* create-api-key\.ts\. See --help\.\n$/);
});

test('a key knows its company: another one that is asked for is refused, and a bad setting is named', async () => {
  const company = await service.registerCompany();
  const key = await settingsOf(service, company);
  const [other, bad, odd] = await Promise.all([
    runScript('receive-webhooks.ts', ['--company', '987654321'], key),
    runScript('receive-webhooks.ts', ['--company', 'seven'], key),
    runScript('receive-webhooks.ts', ['--url', 'api.example.com'], key),
  ]);
  expect(other.code).toBe(2);
  expect(other.stderr).toContain(`belongs to company ${company.companyId}, not to 987654321`);
  expect(bad).toMatchObject({ code: 2, stderr: 'The company must be a number, not "seven". See --help.\n' });
  expect(odd.stderr).toContain('like https://api.example.com, not "api.example.com"');
});
