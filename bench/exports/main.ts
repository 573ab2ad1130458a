import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openArchive } from '../../server/features/exports/read-archive.ts';
import { atEnd, endAll, endedAfter } from '../support/at-end.ts';
import { createDatabase } from '../support/new-database.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { ownerEmail, writeCompany } from './generated-company.ts';

/*
 * A large company on its way from the embedded database to a server, and back: how long its export and its import take, and how
 * much memory the service takes for the export. What arrives is exported again, and each table must be the same.
 *
 *   npm run bench:exports -- --logs 1000000
 *
 * It needs a PostgreSQL server, at BENCH_DATABASE_URL or 127.0.0.1:5432, on which it may create databases; they are dropped at
 * the end. A million logs take a quarter of an hour and 3 GB.
 */
const { values: options } = parseArgs({ options: { logs: { type: 'string', default: '1000000' } } });
const logs = Number(options.logs);
const size = { people: Math.max(2, logs / 1_000), projects: 50, tasks: logs / 10, logs };
const serverUrl = process.env['BENCH_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'wms-bench-exports-'));
atEnd(() => rmSync(folder, { recursive: true }));

type Place = {
  name: 'embedded' | 'PostgreSQL';
  environment: Record<string, string>;
  dataFolder: string;
};

let made = 0;
async function makePlace(name: Place['name']): Promise<Place> {
  made += 1;
  const dataFolder = join(folder, `data-${made}`);
  const environment = {
    DATA_DIR: dataFolder,
    SEED_DEMO: 'false',
    RATE_LIMIT_PER_MINUTE: '1000000',
    LOG_LEVEL: 'error',
    // As npm start does.
    MALLOC_ARENA_MAX: '1',
  };
  if (name === 'embedded') return { name, environment, dataFolder };
  const url = await createDatabase(serverUrl, `wms_bench_exports_${process.pid}_${made}`);
  return {
    name,
    environment: { ...environment, DATABASE_URL: url },
    dataFolder,
  };
}

/** Runs an operator's command; answers its seconds. */
async function run({ environment }: Place, command: string, ...words: string[]): Promise<number> {
  const start = performance.now();
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [`server/commands/${command}.ts`, ...words], {
    cwd: root,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  return (performance.now() - start) / 1000;
}

async function importInto(place: Place, file: string): Promise<number> {
  // Makes the database.
  await (await startServiceProcess(place.environment)).stop();
  const seconds = await run(place, 'import-company', file);
  await run(place, 'verify-totals');
  return seconds;
}

/** The most memory of a process so far, in MB. */
const peakMb = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

async function exportFrom(place: Place, file: string) {
  const service = await startServiceProcess(place.environment);
  try {
    const headers = await signIn(service.url, place);
    const call = async (method: string, path: string) =>
      (await (
        await fetch(`${service.url}${path}`, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) })
      ).json()) as {
        _id: number;
        state: string;
        url: string;
      };
    const before = peakMb(service.pid);
    const start = performance.now();
    let { _id: id, state, url } = await call('POST', '/api/exports/');
    for (; state !== 'finished'; await delay(100)) ({ state, url } = await call('GET', `/api/exports/${id}/`));
    const seconds = (performance.now() - start) / 1000;
    const file_ = await fetch(url);
    await pipeline(Readable.fromWeb(file_.body!), createWriteStream(file));
    return { seconds, before, peak: peakMb(service.pid) };
  } finally {
    await service.stop();
  }
}

async function signIn(url: string, { dataFolder }: Place): Promise<Record<string, string>> {
  const post = (path: string, body: unknown) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await post('/verify-email/', { email: ownerEmail });
  const mailFile = join(dataFolder, 'mail.jsonl');
  while (!existsSync(mailFile) || !/\b\d{6}\b/.test(readFileSync(mailFile, 'utf8'))) await delay(50);
  const otp = readFileSync(mailFile, 'utf8')
    .trim()
    .split('\n')
    .at(-1)!
    .match(/\b\d{6}\b/)![0];
  const answer = await post('/otp-login/', { email: ownerEmail, otp });
  const pair = (await answer.json()) as { access_token: string; refresh_token: string };
  return {
    authorization: `Bearer ${pair.access_token}`,
    'x-refresh-token': pair.refresh_token,
    'content-type': 'application/json',
  };
}

async function tablesOf(file: string): Promise<string> {
  const archive = await openArchive(file);
  archive.close();
  return JSON.stringify(archive.manifest.tables);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const rounded = (number: number): string => number.toFixed(1);

try {
  const generated = join(folder, 'generated.zip');
  await writeCompany(generated, size);
  print(`${size.people} people, ${size.tasks} tasks and comments, ${size.logs} logs\n`);
  print('| From | To | first import | export | memory, of that for the export | file | import | again the same |');
  print('|---|---|---:|---:|---:|---:|---:|---|');
  for (const [from, to] of [
    ['embedded', 'PostgreSQL'],
    ['PostgreSQL', 'embedded'],
  ] as const) {
    await endedAfter(async () => {
      const [source, target] = [await makePlace(from), await makePlace(to)];
      const [out, back] = [join(folder, `${from}.zip`), join(folder, `${from}-again.zip`)];
      const first = await importInto(source, generated);
      const taken = await exportFrom(source, out);
      const moved = await importInto(target, out);
      await exportFrom(target, back);
      const bytes = readFileSync(out).length;
      const isSame = (await tablesOf(out)) === (await tablesOf(back));
      print(
        `| ${from} | ${to} | ${rounded(first)} s | ${rounded(taken.seconds)} s | ${rounded(taken.peak)} MB, ${rounded(taken.peak - taken.before)} MB | ${rounded(bytes / 1e6)} MB | ${rounded(moved)} s | ${isSame ? 'yes' : 'NO'} |`,
      );
      if (!isSame) process.exitCode = 1;
    });
  }
} finally {
  await endAll();
}
