import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { startAnswering } from './answering.ts';
import { codeOf, connect, sessionOf } from './clients.ts';
import { startWiretap } from './wiretap.ts';

const service = await startService();
const { url } = service;
const admin = await service.registerCompany();
const session = sessionOf(admin.pair);
const company = { company_id: admin.companyId };
const { projectId, taskId } = await startWork(admin);
for (let number = 0; number < 44; number += 1) await addTask(admin, projectId);

describe('a list', () => {
  test('is one page when awaited, and every item in a loop', async () => {
    const client = connect(url, { session });
    const page = await client.tasks.list(company);
    expect(page).toMatchObject({ page: 1, pageSize: 20, total: 45, totalPages: 3 });
    expect(page.results).toHaveLength(20);
    const titles: string[] = [];
    const ids: number[] = [];
    for await (const task of client.tasks.list(company)) {
      titles.push(task.title);
      ids.push(task._id);
    }
    expect(ids).toHaveLength(45);
    expect(new Set(ids).size).toBe(45);
    expect(new Set(titles)).toEqual(new Set(['Turn the crank']));
  });

  test('is read page by page as it is needed, from the page that was asked for', async () => {
    const line = await startWiretap(url);
    const client = connect(line.url, { session });
    for await (const task of client.tasks.list(company)) if (task._id > 0) break;
    expect(line.requests()).toHaveLength(1);
    const last = [];
    for await (const task of client.tasks.list({ ...company, page: 3 })) last.push(task);
    expect(last).toHaveLength(5);
    expect(line.requests()).toHaveLength(2);
  });

  test('gives an item once that moves to the next page between two reads', async () => {
    const client = connect(url, { session });
    const { projectId } = await startWork(admin, { name: 'Loom' });
    for (let number = 0; number < 24; number += 1) await addTask(admin, projectId);
    const ids: number[] = [];
    for await (const task of client.tasks.list({ ...company, projectId })) {
      ids.push(task._id);
      if (ids.length === 10) for (let number = 0; number < 3; number += 1) await addTask(admin, projectId);
    }
    expect(ids).toHaveLength(25);
    expect(new Set(ids).size).toBe(25);
  });

  test('that has a cursor is read to its end by it, also beyond what is counted', async () => {
    const client = connect(url, { session });
    const { projectId: loom } = await startWork(admin, { name: 'Jacquard' });
    for (let number = 0; number < 24; number += 1)
      await client.tasks.create({ projectId: loom, title: `Punch card ${number}` });
    const cards: number[] = [];
    for await (const task of client.tasks.list({ ...company, q: 'punch card' })) {
      cards.push(task._id);
      if (cards.length === 10) await client.tasks.create({ projectId: loom, title: 'Punch card between' });
    }
    expect(new Set(cards).size).toBe(24);
    const found: string[] = [];
    for await (const { kind, _id } of client.search.company({ ...company, q: 'punch', limit: 10 }))
      found.push(`${kind} ${_id}`);
    expect(new Set(found).size).toBe(25);
    expect(found).toHaveLength(25);
  });

  test('that is refused fails for both', async () => {
    const client = connect(url, { session });
    expect(await codeOf(client.tasks.list({ company_id: 999_999 }))).toBe('NOT_FOUND');
    const items = client.tasks.list({ company_id: 999_999 })[Symbol.asyncIterator]();
    expect(await codeOf(items.next())).toBe('NOT_FOUND');
  });
});

describe('a file', () => {
  const range = { ...company, from: '2026-03-01', to: '2026-03-31' };

  test('comes with its name and type, whole or piece by piece', async () => {
    const client = connect(url, { session });
    await client.taskLogs.create({
      task_id: taskId,
      employee_id: admin.employeeId,
      start_time: '2026-03-02T09:00:00Z',
      end_time: '2026-03-02T10:30:00Z',
    });
    const file = await client.timesheets.csv({ ...range, groupBy: 'project' });
    expect(file).toMatchObject({ filename: 'timesheet_2026-03-01_2026-03-31_by_project.csv', mediaType: 'text/csv' });
    const whole = await file.text();
    expect(whole).toBe(
      `\u{FEFF}projectId,project,seconds,hours\r\n${projectId},Difference Engine,5400,1.5\r\nTotal,,5400,1.5\r\n`,
    );
    await expect(file.bytes()).rejects.toThrow(new TypeError('timesheets.csv: a file can be read once.'));
    const pieces = await client.timesheets.csv({ ...range, groupBy: 'project' });
    expect(await text(Readable.from(pieces))).toBe(whole.slice(1));
    const sheet = await client.timesheets.get({ ...range, groupBy: 'project' });
    expect(sheet).toMatchObject({ groupBy: 'project', totalSeconds: 5400 });
  });

  test.each(['xlsx', 'pdf'] as const)('of bytes comes whole: %s', async (format) => {
    const client = connect(url, { session });
    const file = await client.timesheets[format]({ ...range, groupBy: 'project' });
    expect(file.filename).toBe(`timesheet_2026-03-01_2026-03-31_by_project.${format}`);
    const bytes = Buffer.from(await file.bytes());
    const [begin, end] = format === 'pdf' ? ['%PDF-', '%%EOF\n'] : ['PK\u{3}\u{4}', 'PK\u{5}\u{6}'];
    const text = bytes.toString('latin1');
    expect([text.startsWith(begin), text.includes(end, bytes.length - 64)]).toEqual([true, true]);
  });

  test('that is refused is an API error before its first piece', async () => {
    const client = connect(url, { session });
    expect(await codeOf(client.timesheets.csv({ ...range, to: '2026-02-01' }))).toBe('VALIDATION_FAILED');
    expect(await codeOf(client.timesheets.csv({ ...range, company_id: 999_999 }))).toBe('NOT_FOUND');
  });

  test('that breaks off, or is aborted, never looks whole', async () => {
    let cut = (): void => {};
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' }).write('half');
      cut = () => response.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    onTestFinished(() => server.closeAllConnections());
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);

    const broken = (await client.timesheets.csv(range))[Symbol.asyncIterator]();
    expect((await broken.next()).value).toEqual(new TextEncoder().encode('half'));
    cut();
    expect(await codeOf(broken.next())).toBe('NETWORK_ERROR');

    const stop = new AbortController();
    const aborted = (await client.timesheets.csv(range, { signal: stop.signal }))[Symbol.asyncIterator]();
    await aborted.next();
    const next = aborted.next();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });

  test('that stalls ends after a minute of silence; a reader that pauses for longer loses nothing', async () => {
    let write = (_piece: string): void => {};
    const server = await startAnswering((response) => {
      response.writeHead(200, { 'content-type': 'text/csv' }).write('half');
      write = (piece) => void response.write(piece);
    });
    const file = (await connect(server.url).timesheets.csv(range))[Symbol.asyncIterator]();
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await file.next();
    vi.advanceTimersByTime(600_000);
    write(' and more');
    expect((await file.next()).value).toEqual(new TextEncoder().encode(' and more'));
    const slow = file.next();
    vi.advanceTimersByTime(59_000);
    write('.');
    expect((await slow).done).toBe(false);
    const silent = codeOf(file.next());
    vi.advanceTimersByTime(60_100);
    expect(await silent).toBe('NETWORK_ERROR');
  });
});
