import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hydrate, InfiniteQueryObserver, QueryObserver, type QueryClient, type QueryKey } from '@tanstack/react-query';
import { extract } from 'tar';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  createClient,
  isApiError,
  type Client,
  type ClientOptions,
  type Page,
  type Task,
} from 'work-management-client';
import { clientPackage, tarballName } from '../../server/surfaces/docs/client-package.ts';
import { blocksOf } from '../support/pages.ts';
import { password, startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { startWiretap } from './wiretap.ts';
import { waitFor } from '../support/waiting.ts';

/* The code of the client's pages as files of a project that has installed the client: compiled there, and run. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'wms-pages-'));
afterAll(() => rm(folder, { recursive: true }));

const modules = join(folder, 'node_modules');
await clientPackage.prepare();
await mkdir(join(modules, 'work-management-client'), { recursive: true });
await extract({
  file: join(clientPackage.folder, tarballName),
  cwd: join(modules, 'work-management-client'),
  strip: 1,
});
for (const name of ['@tanstack', '@types', 'react', 'react-dom'])
  await symlink(join(root, 'node_modules', name), join(modules, name));

const files: string[] = [];
for (const page of ['server-side-rendering', 'react'])
  for (const { language, text } of await blocksOf(`client-sdk/docs/${page}.md`)) {
    if (language === 'sh') continue;
    const [, name] = /^\/\/ (\S+\.tsx?)\n/.exec(text)!;
    files.push(name!);
    await writeFile(join(folder, name!), text);
  }

test('the code of the pages compiles with what is published, strictly', async () => {
  expect(files.toSorted()).toEqual([
    'events.ts',
    'handle.ts',
    'live.ts',
    'main.tsx',
    'provider.tsx',
    'queries.ts',
    'render.tsx',
    'session-cookie.ts',
    'task-list.tsx',
    'visitor.ts',
  ]);
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    module: 'preserve',
    jsx: 'react-jsx',
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, 'node_modules/typescript/lib/tsc.js');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(
    (error: unknown) => error as { stdout: string },
  );
  expect(stdout).toBe('');
});

const service = await startService();
const { url } = service;
const admin = await service.registerCompany();
await service.signIn(admin.email);
const neighbour = await service.registerCompany({ name: 'Compilers' });
await service.signIn(neighbour.email);
const { projectId } = await startWork(admin);
const { projectId: theirProjectId } = await startWork(neighbour);
await neighbour.post('/api/tasks/', { projectId: theirProjectId, title: 'Parse <it>' });
vi.stubEnv('SERVICE_URL', url);

const load = async <Module>(name: string): Promise<Module> => (await import(join(folder, name))) as Module;

describe('a server that renders pages', async () => {
  const { handle } = await load<{ handle(request: Request): Promise<Response> }>('handle.ts');
  const origin = 'https://app.example.com';
  vi.spyOn(console, 'info').mockImplementation(() => {});

  const ask = async (method: string, path: string, cookie = '', form?: Record<string, string>, headers = { origin }) =>
    handle(
      new Request(origin + path, {
        method,
        headers: { cookie, ...headers },
        ...(form && { body: new URLSearchParams(form) }),
      }),
    );

  /** The cookie that a browser has after a sign-in. */
  async function signIn({ email }: { email: string }): Promise<{ cookie: string; response: Response }> {
    const response = await ask('POST', '/sign-in', '', { email, password });
    return { cookie: cookieOf(response)!, response };
  }

  /** The cookie some minutes later: the clock of the client is the real one. */
  const later = (cookie: string): string => {
    const session = JSON.parse(Buffer.from(cookie.split('=')[1]!, 'base64url').toString()) as object;
    return `__Host-session=${Buffer.from(JSON.stringify({ ...session, expiresAt: Date.now() })).toString('base64url')}`;
  };

  const cookieOf = (response: Response): string | undefined => response.headers.getSetCookie()[0]?.split(';')[0];

  test('keeps the session in a cookie that no script reads and no other site sends', async () => {
    const { response, cookie } = await signIn(admin);
    expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    expect(response.headers.getSetCookie()).toEqual([
      `${cookie}; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=2592000`,
    ]);
    const shown = await ask('GET', '/', cookie);
    expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect(await shown.text()).toBe('<!doctype html><ul><li>Turn the crank</li></ul>');
    // Nothing has changed.
    expect(shown.headers.getSetCookie()).toEqual([]);
  });

  test('has a cookie that browsers take, also with the longest names', async () => {
    const { cookie } = await signIn(admin);
    const session = JSON.parse(Buffer.from(cookie.split('=')[1]!, 'base64url').toString()) as {
      employee: object;
      company: object;
    };
    Object.assign(session.employee, {
      name: '語'.repeat(201),
      email: 'a'.repeat(254),
      profilePicture: 'p'.repeat(200),
    });
    Object.assign(session.company, { company_name: '語'.repeat(200) });
    expect(Buffer.from(JSON.stringify(session)).toString('base64url').length).toBeLessThan(4000);
  });

  test('shows everybody their own, with many at once', async () => {
    const [ours, theirs] = [(await signIn(admin)).cookie, (await signIn(neighbour)).cookie];
    const pages = await Promise.all(
      Array.from({ length: 64 }, async (_, index) => {
        const response = await ask('GET', '/', index % 2 === 0 ? ours : theirs);
        return [index % 2, (await response.text()).includes('Parse &lt;it>')];
      }),
    );
    expect(new Set(pages.map(String))).toEqual(new Set(['0,false', '1,true']));
  });

  test('sends visitors without a session to the sign-in, and says what is wrong with it', async () => {
    for (const cookie of ['', '__Host-session=nonsense', '__Host-session=bnVsbA']) {
      const response = await ask('GET', '/', cookie);
      expect([response.status, response.headers.get('location')]).toEqual([303, '/sign-in']);
    }
    const refused = await ask('POST', '/sign-in', '', { email: admin.email, password: 'wrong, but long enough' });
    expect(refused.status).toBe(401);
    expect(refused.headers.getSetCookie()).toEqual([]);
  });

  test('refuses what a page of another site sends', async () => {
    const { cookie } = await signIn(admin);
    for (const headers of [{ origin: 'https://evil.example' }, {} as { origin: string }])
      expect((await ask('POST', '/sign-out', cookie, {}, headers)).status).toBe(403);
    expect((await ask('GET', '/', cookie)).status).toBe(200);
  });

  test('deletes the cookie with the session, which is over on the service too', async () => {
    const { cookie } = await signIn(admin);
    const left = await ask('POST', '/sign-out', cookie, {});
    expect(left.headers.getSetCookie()[0]).toMatch(/^__Host-session=; .*Max-Age=0$/);
    const back = await ask('GET', '/', cookie);
    expect([back.headers.get('location'), back.headers.getSetCookie()[0]]).toEqual([
      '/sign-in',
      expect.stringMatching(/Max-Age=0$/),
    ]);
  });

  test('passes events on to the page, and ends with it', async () => {
    const { eventsOf } = await load<{ eventsOf(request: Request, projectId: number): Response }>('events.ts');
    const { cookie } = await signIn(admin);
    const leave = new AbortController();
    const response = eventsOf(
      new Request(`${origin}/events`, { headers: { cookie }, signal: leave.signal }),
      projectId,
    );
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const first = reader.read();
    // Whatever happens before the stream has begun is not sent.
    const writer = await service.signIn(admin.email);
    const writing = setInterval(() => void addTask(writer, projectId), 50);
    onTestFinished(() => clearInterval(writing));
    expect((await first).value).toMatch(/^id: \d+\ndata: \{.*"type":"task.created".*\}\n\n$/s);
    leave.abort();
    let isDone = false;
    while (!isDone) ({ done: isDone } = await reader.read());
    expect(isDone).toBe(true);
  });

  test('tells the service the address of its visitor', async () => {
    const { clientOf } = await load<{ clientOf(address: string): Client }>('visitor.ts');
    const line = await startWiretap(url);
    vi.stubEnv('SERVICE_URL', line.url);
    onTestFinished(() => void vi.stubEnv('SERVICE_URL', url));
    await clientOf('203.0.113.7').auth.login({ email: admin.email, password });
    expect(line.headers('x-forwarded-for')).toEqual(['203.0.113.7']);
  });

  test('goes on when the access token has expired, whether the cookie with the next one arrives or not', async () => {
    const { cookie: first } = await signIn(admin);
    const cookie = later(first);
    service.clock.advance({ minutes: 20 });
    const renewed = cookieOf(await ask('GET', '/', cookie))!;
    expect(renewed).not.toBe(cookie);
    // A refresh token that was used twice would end the session after 10 seconds.
    service.clock.advance({ seconds: 30 });
    for (const kept of [cookie, later(renewed)]) expect((await ask('GET', '/', kept)).status).toBe(200);
    service.clock.advance({ days: 31 });
    expect((await ask('GET', '/', renewed)).headers.get('location')).toBe('/sign-in');
  });
});

describe('a page with React', async () => {
  const { createQueryClient } = await load<{ createQueryClient(): QueryClient }>('provider.tsx');
  type QueryOptions = { queryKey: QueryKey };
  const { taskList, taskQuery } = await load<{
    taskList(client: Client, filters?: object): QueryOptions;
    taskQuery(client: Client, id: number): QueryOptions;
  }>('queries.ts');
  const { followTasks } = await load<{
    followTasks(client: Client, queryClient: QueryClient, projectId: number, signal: AbortSignal): Promise<void>;
  }>('live.ts');

  /** The same as what the pages import, so that errors of both are known to both. */
  async function open(options: Partial<ClientOptions> = {}) {
    const client = createClient({ baseUrl: url, ...options });
    await client.auth.login({ email: admin.email, password });
    const queryClient = createQueryClient();
    const leave = new AbortController();
    onTestFinished(() => {
      leave.abort();
      client.close();
      queryClient.clear();
    });
    return { client, queryClient, signal: leave.signal };
  }

  const isList = (to: Parameters<typeof fetch>[0]): boolean => new Request(to).url.includes('/tasks.list');

  type List = { pages: Page<Task>[] };

  /** A list on the page, as `useInfiniteQuery` has it. */
  function watchList(queryClient: QueryClient, options: QueryOptions) {
    const observer = new InfiniteQueryObserver(queryClient, options as never);
    onTestFinished(observer.subscribe(() => {}));
    const titles = () =>
      (observer.getCurrentResult().data as List | undefined)?.pages.map(({ results }) =>
        results.map(({ title }) => title),
      );
    return { observer, titles };
  }

  test('reads a list page by page, to its end', async () => {
    const { client, queryClient } = await open();
    const { _id } = await client.projects.create({ name: 'Long' });
    for (let number = 0; number < 21; number += 1)
      await client.tasks.create({ projectId: _id, title: `Task ${number}` });
    const { observer, titles } = watchList(queryClient, taskList(client, { projectId: _id }));
    await waitFor(() => expect(titles()?.map(({ length }) => length)).toEqual([20]));
    expect(observer.getCurrentResult().hasNextPage).toBe(true);
    await observer.fetchNextPage();
    expect(titles()?.map(({ length }) => length)).toEqual([20, 1]);
    expect(observer.getCurrentResult().hasNextPage).toBe(false);
  });

  test('makes one request for what fails for good, and has its typed error', async () => {
    const line = await startWiretap(url);
    const { client, queryClient } = await open({ baseUrl: line.url });
    const before = line.requests().length;
    const observer = new QueryObserver(queryClient, taskQuery(client, 999_999));
    onTestFinished(observer.subscribe(() => {}));
    await waitFor(() => expect(observer.getCurrentResult().failureCount).toBe(1));
    expect(observer.getCurrentResult().status).toBe('error');
    expect(isApiError(observer.getCurrentResult().error, 'NOT_FOUND')).toBe(true);
    expect(line.requests().length - before).toBe(1);
    // On a server, which this is, TanStack Query would not retry anyway.
    const never = { retry: false };
    expect(queryClient.getDefaultOptions()).toMatchObject({ queries: never, mutations: never });
  });

  test('ends the request of a query that nobody needs any more', async () => {
    const signals: AbortSignal[] = [];
    const { client, queryClient } = await open({
      fetch: async (to, init) => {
        if (!isList(to)) return fetch(to, init);
        signals.push(init!.signal!);
        return new Promise((_, reject) => init!.signal!.addEventListener('abort', () => reject(new Error('gone'))));
      },
    });
    const { queryKey } = taskList(client);
    const observer = new InfiniteQueryObserver(queryClient, taskList(client) as never);
    const leave = observer.subscribe(() => {});
    await waitFor(() => expect(signals).toHaveLength(1));
    leave();
    await waitFor(() => expect(signals[0]!.aborted).toBe(true));
    expect(queryClient.getQueryState(queryKey)).toMatchObject({ status: 'pending', fetchStatus: 'idle' });
  });

  test('shows what others change, and reads nothing again for a change of a task', async () => {
    const line = await startWiretap(url);
    const { client, queryClient, signal } = await open({ baseUrl: line.url });
    const { _id } = await client.projects.create({ name: 'Live' });
    const task = await client.tasks.create({ projectId: _id, title: 'First' });
    const { titles } = watchList(queryClient, taskList(client, { projectId: _id }));
    const following = followTasks(client, queryClient, _id, signal);
    const lists = () => line.requests().filter((one) => one.includes('tasks.list')).length;
    // Once for the page, and again when the stream is live.
    await waitFor(() => expect([lists(), queryClient.isFetching(), titles()]).toEqual([2, 0, [['First']]]));

    await client.tasks.update({ task_id: task._id, title: 'Second' });
    await waitFor(() => expect(titles()).toEqual([['Second']]));
    expect(lists()).toBe(2);
    expect(queryClient.getQueryData(taskQuery(client, task._id).queryKey)).toMatchObject({ title: 'Second' });

    await client.tasks.create({ projectId: _id, title: 'Third' });
    await waitFor(() => expect(titles()?.[0]?.toSorted()).toEqual(['Second', 'Third']));
    await client.tasks.delete({ task_id: task._id });
    await waitFor(() => expect(titles()).toEqual([['Third']]));
    await client.projects.delete({ project_id: _id });
    const error: unknown = await following.catch((cause: unknown) => cause);
    expect(error === undefined || isApiError(error, 'NOT_FOUND')).toBe(true);
  });

  test('keeps a change that overtakes the reading of its list', async () => {
    let lists = 0;
    let hold: Promise<void> | undefined;
    const { client, queryClient, signal } = await open({
      fetch: async (to, init) => {
        const response = await fetch(to, init);
        if (!isList(to)) return response;
        lists += 1;
        await hold;
        return response;
      },
    });
    const { _id } = await client.projects.create({ name: 'Late' });
    const task = await client.tasks.create({ projectId: _id, title: 'First' });
    const options = taskList(client, { projectId: _id });

    // The stream becomes live while the list is read for the first time, by an answer that is older.
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    hold = first.promise;
    const { titles } = watchList(queryClient, options);
    void followTasks(client, queryClient, _id, signal);
    await waitFor(() => expect(lists).toBe(2));
    first.resolve();
    await waitFor(() => expect([queryClient.isFetching(), titles()]).toEqual([0, [['First']]]));

    hold = second.promise;
    void queryClient.invalidateQueries({ queryKey: options.queryKey });
    await waitFor(() => expect(lists).toBe(3));
    await client.tasks.update({ task_id: task._id, title: 'Second' });
    await waitFor(() => expect(lists).toBe(4));
    second.resolve();
    await waitFor(() => expect([queryClient.isFetching(), titles()]).toEqual([0, [['Second']]]));
  });

  test('is rendered on a server, and reads nothing again in the browser', async () => {
    const { renderTasks } = await load<{
      renderTasks(request: Request, projectId: number): Promise<{ html: string; state: unknown }>;
    }>('render.tsx');
    const { client } = await open();
    const { _id } = await client.projects.create({ name: 'Rendered' });
    await client.tasks.create({ projectId: _id, title: 'Escape <b>' });
    const cookie = `__Host-session=${Buffer.from(JSON.stringify(client.session)).toString('base64url')}`;
    const { html, state } = await renderTasks(new Request('https://app.example.com/', { headers: { cookie } }), _id);
    expect(html).toContain('<li>Escape &lt;b&gt;</li>');
    for (const token of [client.session!.accessToken, client.session!.refreshToken])
      expect(html + JSON.stringify(state)).not.toContain(token);

    const line = await startWiretap(url);
    const inBrowser = createQueryClient();
    onTestFinished(() => inBrowser.clear());
    hydrate(inBrowser, JSON.parse(JSON.stringify(state)));
    const { titles } = watchList(inBrowser, taskList(createClient({ baseUrl: line.url }), { projectId: _id }));
    expect(titles()).toEqual([['Escape <b>']]);
    expect([inBrowser.isFetching(), line.requests()]).toEqual([0, []]);
  });
});
