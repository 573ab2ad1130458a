import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientPackage } from '../../server/surfaces/docs/client-package.ts';
import { endAllProcesses, launch, makeHome, runToEnd, type Home, type ServiceProcess } from '../support/process.ts';

/*
 * An installation by `npm ci --omit=dev`: the service's own files, and of the packages those that the lock file does not
 * keep for development. They are linked from here, so nothing is fetched.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = join(root, 'client-sdk/examples/web/dist');
/** With a space, as folders of people have. */
const folder = await mkdtemp(join(tmpdir(), 'wms-production packages-'));
let home: Home;
/** A first start without compiled code, on a machine that may have other things to do. */
const timeout = 180_000;

type Entry = { dev?: boolean; os?: string | string[]; cpu?: string | string[]; bin?: Record<string, string> };

async function installed(): Promise<[string, Entry][]> {
  const lock = await readFile(join(root, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Record<string, Entry> };
  const isFor = (wanted: string | string[] | undefined, here: string) =>
    wanted === undefined || [wanted].flat().includes(here);
  return Object.entries(packages).filter(
    ([path, { dev = false, os, cpu }]) =>
      /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) &&
      !dev &&
      isFor(os, process.platform) &&
      isFor(cpu, process.arch),
  );
}

/** The packages are taken for what stands in that folder, not for what is beside the files that are linked. */
const environment = { NODE_OPTIONS: '--preserve-symlinks' };
const inFolder = (command: string): string[] => ['sh', '-c', `cd '${folder}' && exec ${command}`];

beforeAll(async () => {
  home = await makeHome();
  for (const name of ['server', 'db', 'client-sdk', 'docs', 'package.json', 'tsconfig.json'])
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => path !== page && path !== clientPackage.folder,
    });
  const bins = join(folder, 'node_modules/.bin');
  await mkdir(bins, { recursive: true });
  for (const [path, { bin = {} }] of await installed()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(join(root, path), join(folder, path));
    // That of Node is the last to come, as with npm before 11.
    for (const [name, file] of Object.entries(bin))
      if (name !== 'node') await symlink(join('../..', path, file), join(bins, name));
  }
  await runToEnd({}, inFolder('npm run --silent postinstall'));
});
afterAll(async () => {
  await endAllProcesses();
  await rm(folder, { recursive: true });
  await home?.remove();
});

const start = () => launch(inFolder('npm start'), { ...environment, ...home.environment }, 'ready at ');

describe('where neither the demo page nor the client is built', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await start();
  }, timeout);

  test('serves the API and its documents, with the Node that comes with it', async () => {
    for (const path of ['/readyz', '/openapi.json', '/asyncapi.json', '/docs/', '/docs/guides/rest', '/docs/errors']) {
      const answer = await fetch(service.url + path);
      expect([path, answer.status]).toEqual([path, 200]);
      await answer.text();
    }
  });

  test('says that there is no demo page', async () => {
    expect(service.stdout()).toContain('"the demo page is not served: it was not built, and the packages that');
    expect(service.stdout()).not.toContain('/demo/');
    expect((await fetch(`${service.url}/demo/`)).status).toBe(404);
  });

  test('says why it has no client', async () => {
    const answer = await fetch(`${service.url}/client.tgz`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      code: 'NOT_FOUND',
      detail:
        'The client is not served here: it was not built, and the packages that build it are not installed. Build it with `npm run pack:sdk` where they are.',
    });
  });

  test('stops when it is told to', async () => {
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
  });
});

describe('where both are built', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    await cp(page, join(folder, 'client-sdk/examples/web/dist'), { recursive: true });
    const problem = await clientPackage.prepare();
    if (problem !== undefined) throw new Error(`The client is not built: ${problem}`);
    await cp(clientPackage.folder, join(folder, 'client-sdk/packed'), { recursive: true });
    service = await start();
  }, timeout);

  test('serves the demo page', async () => {
    expect(service.stdout()).toContain(`${service.url}/demo/`);
    const text = await (await fetch(`${service.url}/demo/`)).text();
    const script = /<script[^>]* src="([^"]+)"/.exec(text)![1]!;
    expect((await fetch(new URL(script, `${service.url}/demo/`))).status).toBe(200);
  });

  test('serves the client', async () => {
    expect((await fetch(`${service.url}/client.tgz`)).status).toBe(200);
  });

  test('says so where the demo page was built from another source', { timeout }, async () => {
    const ask = `import('./server/surfaces/docs/demo-page.ts').then(async ({ preparePage }) => console.log(await preparePage()))`;
    const source = join(folder, 'client-sdk/examples/web/src/main.tsx');
    await writeFile(source, `${await readFile(source, 'utf8')}// another one`);
    const { stdout } = await runToEnd(environment, inFolder(`node_modules/.bin/node -e "${ask}"`));
    expect(stdout).toMatch(/^it was built from another source/);
    await cp(join(root, 'client-sdk/examples/web/src/main.tsx'), source);
  });

  test('stops when it is told to, and has the commands of operators', { timeout }, async () => {
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
    const given = { ...environment, ...home.environment };
    const keys = await runToEnd(given, inFolder('npm run --silent keys'));
    expect(keys).toMatchObject({ code: 0, stderr: '' });
    const jobs = await runToEnd(given, inFolder('npm run --silent jobs -- list'));
    expect(jobs).toMatchObject({ code: 0 });
  });
});

test.runIf(process.platform === 'linux')('has a Node of its own, of the version that the tests run on', async () => {
  const { stdout } = await runToEnd(environment, inFolder('node_modules/.bin/node --version'));
  expect(stdout.trim()).toBe(process.version);
});

test('says which Node it takes, and refuses an older one', async () => {
  const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
  const guard = await readFile(join(root, 'server/require-node.cjs'), 'utf8');
  expect(guard).toContain(`needs Node ${engines.node.replace('>=', '')} or later`);
});
