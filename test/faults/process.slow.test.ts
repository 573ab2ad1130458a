import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCaller, type Caller } from '../support/actor.ts';
import {
  endAllProcesses,
  findFreePort,
  launch,
  makeHome,
  runToEnd,
  startProcess,
  type Home,
  type ServiceProcess,
} from '../support/process.ts';
import { waitUntil } from '../support/waiting.ts';

/* One home through several lives, in the order of the tests: each picks up what the one before left. */

let home: Home;
let service: ServiceProcess;
beforeAll(async () => {
  home = await makeHome({ isNew: true });
  if (home.databaseUrl === undefined) await killFirstStart();
  service = await startProcess(home.environment);
});
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

/** Kills a process while it creates the embedded database: the first start is the next one. */
async function killFirstStart(): Promise<void> {
  const killed = await launch([process.execPath, 'server/main.ts'], home.environment);
  await waitUntil(() => existsSync(join(home.folder, 'database.json')), { timeout: 60_000 });
  killed.signal('SIGKILL');
  await killed.ended;
  const state = readFileSync(join(home.folder, 'database.json'), 'utf8');
  expect(JSON.parse(state)).toEqual({ isBeingCreated: true });
}

type Demo = { email: string; password: string };
const demoSignIn = (): Demo => JSON.parse(readFileSync(join(home.folder, 'demo-sign-in.json'), 'utf8')) as Demo;

async function signInToDemo(): Promise<Caller & { companyId: number }> {
  const { status, body } = await createCaller(service.url).post('/login/', demoSignIn());
  expect(status).toBe(200);
  return { ...createCaller(service.url, body), companyId: body.company.company_id };
}

/** A request that the service has accepted, and of which it waits for the body. */
async function beginLogin(): Promise<{ finish(): Promise<string> }> {
  const { hostname, port } = new URL(service.url);
  const body = JSON.stringify(demoSignIn());
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(
    `POST /login/ HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      'Expect: 100-continue\r\nConnection: close\r\n\r\n',
  );
  // Said when the head has been read, in the same breath in which the request is taken on.
  await waitUntil(() => String(Buffer.concat(chunks)).includes('100 Continue'));
  chunks.length = 0;
  return {
    async finish() {
      socket.write(body);
      await closed;
      return String(Buffer.concat(chunks));
    },
  };
}

describe('a first start', () => {
  test('says in its banner where things are, with a call that works when pasted', async () => {
    const banner = service.stdout();
    expect(banner).toContain(`${service.url}/docs`);
    expect(banner).toContain(`${service.url}/demo/`);
    expect(banner).toContain(join(home.folder, 'mail.jsonl'));
    const call = banner.split('\n').find((line) => line.trim().startsWith('curl'));
    const { code, stdout } = await runToEnd({}, ['sh', '-c', call ?? 'false']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      token_type: 'Bearer',
      employee: { email: demoSignIn().email, isAdmin: true },
    });
  });

  test('serves the demo page, and links of comments lead to it', async () => {
    const demo = await signInToDemo();
    const { body: tasks } = await demo.get(`/api/tasks/company/${demo.companyId}/?q=Ticket`);
    const { body } = await demo.get(`/api/tasks/chat/${tasks.results[0]._id}/`);
    const link: string = body.comments[0].deepLink;
    expect(link).toBe(`${service.url}/demo/#/tasks/${tasks.results[0]._id}?comment=${body.comments[0]._id}`);
    expect((await fetch(link)).headers.get('content-type')).toContain('text/html');
  });

  test('keeps keys and demo password for its own user only, and the password out of the log', () => {
    for (const name of ['auth-keys.json', 'demo-sign-in.json'])
      expect(statSync(join(home.folder, name)).mode & 0o777).toBe(0o600);
    const log = service
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(log.length).toBeGreaterThan(0);
    for (const line of log) expect(() => JSON.parse(line)).not.toThrow();
    expect(log.join('\n')).not.toContain(demoSignIn().password);
  });

  test('leaves a second process on its port or its folder to be refused in one sentence, and serves on', async () => {
    const { port } = new URL(service.url);
    const second = await runToEnd({ ...home.environment, PORT: port });
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(
      home.databaseUrl === undefined
        ? /^The data folder .* is in use by process \d+\. .*\n$/
        : /^127\.0\.0\.1:\d+ is in use: .*\n$/,
    );
    await signInToDemo();
  });
});

describe('a stop by SIGTERM', () => {
  test('lets a request that has begun have its answer, and exits with 0', async () => {
    const login = await beginLogin();
    service.signal('SIGTERM');
    await waitUntil(() => service.stdout().includes('stopping'));
    expect(await login.finish()).toMatch(/^HTTP\/1\.1 200 [^]*"access_token"/);
    expect(await service.ended).toBe(0);
    expect(service.stdout()).toContain('"stopped"');
    await expect(fetch(service.url)).rejects.toThrow('fetch failed');
  });
});

describe('a further start', () => {
  test('keeps the keys, so a session of before goes on, and shows the demo sign-in again', async () => {
    const keys = readFileSync(join(home.folder, 'auth-keys.json'), 'utf8');
    service = await startProcess(home.environment);
    expect(readFileSync(join(home.folder, 'auth-keys.json'), 'utf8')).toBe(keys);
    expect(service.stdout()).toContain(demoSignIn().password);
    const admin = await signInToDemo();
    const projects = await admin.get(`/api/projects/company/${admin.companyId}/`);
    expect(projects.body.total).toBe(3);
  });
});

describe('a process killed in the middle of 200 writes', () => {
  test('loses none that it acknowledged, and its next start works', async () => {
    const admin = await signInToDemo();
    const acknowledged: number[] = [];
    let next = 0;
    const write = async (): Promise<void> => {
      while (next < 200) {
        next += 1;
        const { status, body } = await admin.post('/api/projects/', { name: `Project ${next}` });
        if (status === 200) acknowledged.push(body._id);
        if (acknowledged.length === 80) service.signal('SIGKILL');
      }
    };
    await Promise.allSettled(Array.from({ length: 8 }, write));
    expect(await service.ended).toBe('SIGKILL');
    expect(acknowledged.length).toBeGreaterThanOrEqual(80);
    expect(acknowledged.length).toBeLessThan(200);

    service = await startProcess(home.environment, ['npm', 'start']);
    const again = await signInToDemo();
    const answers = await Promise.all(acknowledged.map((id) => again.get(`/api/projects/${id}/`)));
    expect(answers.map(({ status, body }) => (status === 200 ? (body._id as number) : status))).toEqual(acknowledged);
  });
});

describe('a process under npm', () => {
  test('receives a SIGTERM to npm, ends with it and leaves no orphan', async () => {
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(service.stdout()).toContain('"stopped"');
    await expect(fetch(service.url)).rejects.toThrow('fetch failed');
  });
});

describe('a process whose output nobody reads any more', () => {
  test('comes up, serves on, and ends when it is told to', async () => {
    const port = await findFreePort();
    service = await launch([process.execPath, 'server/main.ts'], { ...home.environment, PORT: String(port) });
    service.stopReading();
    service.url = `http://127.0.0.1:${port}`;
    await waitUntil(async () => (await fetch(`${service.url}/readyz`).catch(() => undefined))?.ok, {
      timeout: 60_000,
    });
    await signInToDemo();
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
  });
});
