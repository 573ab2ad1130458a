import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createLogger } from '../../server/platform/log.ts';
import { createShell } from '../../server/surfaces/http/app-shell.ts';
import { mountMcp } from '../../server/surfaces/mcp/mcp.ts';
import { atEndOfFile } from '../support/file-end.ts';
import { startService } from '../support/service.ts';
import { keyOf } from './agent.ts';
import { createFixtureServer } from './fixture-tools.ts';

/* The scenarios of the official conformance suite for servers, at /mcp. It has none yet of the protocol of 2026-07-28. */

/** They need nothing but what the service offers. */
const ofTheService = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'];

/** They call tools, prompts and resources of the suite's own, which stand behind the same mount. */
const ofTheMount = [
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'tools-call-with-logging',
  'logging-set-level',
  'json-schema-2020-12',
  'completion-complete',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
];

/** Each request is answered by itself, on any node: there are no sessions, no questions to clients, and no streams to resume. */
const notRun = {
  'tools-call-sampling': 'the server asks the client, and waits for the answer in another request',
  'tools-call-elicitation': 'the same',
  'elicitation-sep1034-defaults': 'the same',
  'elicitation-sep1330-enums': 'the same',
  'server-sse-polling': 'a stream that is closed in the middle of a call goes on in another request',
  'server-sse-multiple-streams': 'it checks nothing without a session',
};

/** Stands before a server for the suite, which sends no key: adds one, and leaves all else as it was sent. */
async function startKeyProxy(): Promise<{ url: string; passTo(target: string, key: string): void }> {
  let to = { port: '', key: '' };
  const server = createServer((near, answer) => {
    const headers = { ...near.headers, authorization: `Bearer ${to.key}` };
    const { method, url: path } = near;
    const far = request({ host: '127.0.0.1', port: to.port, method, path, headers }, (answered) => {
      answer.writeHead(answered.statusCode!, answered.headers);
      answered.pipe(answer);
    });
    far.on('error', () => answer.destroy());
    near.pipe(far);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEndOfFile(async () => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, passTo: (target, key) => void (to = { port: new URL(target).port, key }) };
}

const proxies = { service: await startKeyProxy(), mount: await startKeyProxy() };
const service = await startService({ settings: { publicUrl: proxies.service.url } });
const admin = await service.registerCompany();
const key = await keyOf(admin, ['read', 'write']);
proxies.service.passTo(service.url, key);
proxies.mount.passTo(await startFixtures(), key);

async function startFixtures(): Promise<string> {
  const logger = createLogger({ level: 'silent' });
  const { server, refuseOtherMethods } = await createShell({ logger, trustProxy: false, corsOrigins: [] });
  mountMcp(server, service.app.services, { corsOrigins: [], publicUrl: proxies.mount.url }, createFixtureServer);
  refuseOtherMethods();
  atEndOfFile(() => server.close());
  return server.listen({ port: 0, host: '127.0.0.1' });
}

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

type Check = { id: string; status: string; errorMessage?: string };

/** Runs all scenarios of the suite in one process; answers what each has found. */
async function runSuite(url: string): Promise<Map<string, Check[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'wms-conformance-'));
  const child = spawn(process.execPath, [
    program,
    'server',
    '--url',
    `${url}/mcp`,
    '--suite',
    'all',
    '--output-dir',
    folder,
  ]);
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
  const found = (await readdir(folder)).map(async (name): Promise<[string, Check[]]> => {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)!;
    return [scenario!, JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) as Check[]];
  });
  const checks = new Map(await Promise.all(found));
  await rm(folder, { recursive: true });
  return checks;
}

const found = { service: await runSuite(proxies.service.url), mount: await runSuite(proxies.mount.url) };

function failures(checks: Check[] | undefined): Check[] {
  if (checks?.some(({ status }) => status === 'SUCCESS') !== true) throw new Error('nothing was checked');
  return checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
}

test.each(ofTheService)('the service passes %s', (scenario) => {
  expect(failures(found.service.get(scenario))).toEqual([]);
});

test.each(ofTheMount)('its mount passes %s', (scenario) => {
  expect(failures(found.mount.get(scenario))).toEqual([]);
});

test('each scenario of the suite is run, or listed with the reason why not', () => {
  const known = [...ofTheService, ...ofTheMount, ...Object.keys(notRun)];
  expect([...found.service.keys()].toSorted()).toEqual(known.toSorted());
});
