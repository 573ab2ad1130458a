import { parseArgs } from 'node:util';
import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import { openServer } from '../../db/open.ts';
import { onNewDatabase, registerCompany, send, startSide, type Side } from '../support/side.ts';
import { median, timed } from '../support/timing.ts';
import { grow, hire, seconds, workdays, type Company } from './company.ts';

/*
 * The cost of time logs in large numbers: medians over HTTP, one request at a time, in companies of several sizes that
 * take turns, and the growth from size to size. Balances, periods, statistics and creates must not grow with the logs.
 *
 *   npm run bench:time -- --sizes 10k,1m,10m
 *
 * It needs a PostgreSQL server, at BENCH_DATABASE_URL or 127.0.0.1:5432, on which it may create a database; that is
 * dropped at the end. Ten million logs take some 5 GB and ten minutes.
 */
const { values: options } = parseArgs({
  options: { sizes: { type: 'string', default: '10k,1m,10m' }, rounds: { type: 'string', default: '40' } },
});
const sizes = options.sizes.split(',').map((size) => {
  const [, number, unit = ''] = /^(\d+)([km]?)$/i.exec(size.trim()) ?? [];
  if (number === undefined) throw new Error(`${size} is no size: write 10000, 10k or 1m`);
  return Number(number) * { '': 1, k: 1_000, m: 1_000_000 }[unit.toLowerCase() as '' | 'k' | 'm'];
});
const rounds = Number(options.rounds);
/** Warm-up: the first calls pay for caches of the process and the database. */
const warmUps = 40;
const name = `wms_bench_time_${process.pid}`;

const report = (what: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1B[K${what}`);
  else if (!/^\d+ of /.test(what) || /^\d*00000 of /.test(what)) process.stderr.write(`${what}\n`);
};

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const weekdayOf = (day: string): string =>
  new Date(day).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }).toLowerCase();
const random = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;
/** What is measured: a call, and what has to be there for it, which is not timed. */
type Call = { before?: () => Promise<void>; call: () => Promise<unknown> };

/** What is measured: each answers one call. What locks days comes last, because creates would be refused for it. */
function callsOf(
  url: string,
  headers: Record<string, string>,
  company: Company,
  client: pg.Client,
): Record<string, Call> {
  const { companyId, employeeIds, taskIds } = company;
  // The last two workdays are full in a company of any size, so periods begin with them.
  const firstDay = isoDay(workdays(2)[1]!);
  let periodIds: number[] = [];
  const get = (path: string) => send(url, { method: 'GET', path, headers });
  const post = (path: string, body: unknown) => send(url, { method: 'POST', path, body, headers });
  const put = (path: string, body: unknown) => send(url, { method: 'PUT', path, body, headers });
  const day = (daysAgo: number) => isoDay(Date.now() - daysAgo * dayMs);
  const month = `/api/timesheets/${companyId}/?from=${day(31)}&to=${day(1)}`;
  // Nobody logs as much twice: each call has a person of its own.
  const waiting = [...employeeIds];
  return {
    statistics: { call: () => get(`/task-statistics/${companyId}/`) },
    performance: { call: () => get(`/api/performance/${companyId}/`) },
    'list by task': { call: () => get(`/taskLogs/task/${random(taskIds)}/`) },
    "a month's timesheet, one person": { call: () => get(`${month}&userId=${random(employeeIds)}`) },
    "a month's timesheet, everybody": { call: () => get(`${month}&groupBy=employee`) },
    'single create': {
      call: () => {
        const start = Date.now() - (60 + Math.floor(Math.random() * 30_000)) * minuteMs;
        return post('/tasklog/create/', {
          task_id: random(taskIds),
          employee_id: random(employeeIds),
          start_time: new Date(start),
          end_time: new Date(start + 25 * minuteMs),
        });
      },
    },
    'bulk create of 500': {
      call: () => {
        const userId = waiting.pop()!;
        const tasks = Array.from({ length: 20 }, () => random(taskIds));
        const entries = Array.from({ length: 500 }, (_, n) => {
          const startTime = Date.now() - (120 + n * 90) * minuteMs;
          const times = { startTime: new Date(startTime), endTime: new Date(startTime + 20 * minuteMs) };
          return { taskId: random(tasks), userId, ...times, manualAdd: true };
        });
        return post(`/tasklogs/bulk/create/${userId}/`, entries);
      },
    },
    'balance of a year': { call: () => get(`/api/balances/${random(employeeIds)}/?from=${day(365)}&to=${day(1)}`) },
    'submission of a period': {
      before: async () => {
        await put(`/api/time-policy/${companyId}/`, { weekStart: weekdayOf(firstDay), requireApproval: true });
        await client.query(`delete from timesheet_periods where company_id = ${companyId}`);
      },
      call: () => post('/api/timesheet-periods/submit/', { employee_id: random(employeeIds), period_start: firstDay }),
    },
    'decision on 500 periods': {
      before: async () => void (periodIds = await submitAll(client, companyId, firstDay)),
      call: () => post('/api/timesheet-periods/decide/', { period_ids: periodIds, decision: 'approve' }),
    },
  };
}

/** Everybody hands in the period; the identifiers. */
async function submitAll(client: pg.Client, companyId: number, firstDay: string): Promise<number[]> {
  const { rows } = await client.query<{ id: string }>(
    `insert into timesheet_periods (company_id, employee_id, first_day, last_day, state, submitted_by_id, submitted_at,
       expected_minutes, snapshot)
     select company_id, employee_id, $2::date, $2::date + 6, 'submitted', employee_id, now(), 2400, '[]'
     from employees where company_id = $1
     on conflict (company_id, employee_id, first_day) do update set state = excluded.state
     returning period_id as id`,
    [companyId, firstDay],
  );
  return rows.map(({ id }) => Number(id));
}

/** The medians of calls that take turns, so that other work of the machine affects all of them alike. */
async function mediansOf(calls: Call[]): Promise<number[]> {
  const times = calls.map((): number[] => []);
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const [index, { before, call }] of calls.entries()) {
      await before?.();
      const time = await timed(call);
      if (round >= 0) times[index]!.push(time);
    }
  }
  return times.map(median);
}

/** What each hour costs, so that logs are created with amounts. */
const hourlyRate = { minorUnits: 9_550, currency: 'EUR' };

async function measure(side: Side, client: pg.Client): Promise<Record<string, number[]>> {
  const sides: Record<string, Call>[] = [];
  for (const size of sizes) {
    const begun = performance.now();
    const { companyId, headers } = await registerCompany(side, `with-${size}`);
    const company = await hire(client, companyId);
    await grow(side.database, client, company, size, report);
    await send(side.url, {
      method: 'PUT',
      path: `/api/rates/${companyId}/`,
      body: { validFrom: isoDay(0), hourlyRate },
      headers,
    });
    report(`a company of ${size} logs is ready after ${seconds(begun)}`);
    sides.push(callsOf(side.url, headers, company, client));
  }
  const medians: Record<string, number[]> = {};
  for (const what of Object.keys(sides[0]!)) {
    report(`measuring: ${what}`);
    medians[what] = await mediansOf(sides.map((calls) => calls[what]!));
  }
  return medians;
}

function print(medians: Record<string, number[]>): void {
  const titles = sizes.map((size) => `${size.toLocaleString('en')} logs`);
  console.log(
    `\n${'median, one request at a time'.padEnd(34)}${titles.map((title) => title.padStart(18)).join('')}   growth`,
  );
  for (const [what, times] of Object.entries(medians)) {
    const growth = times.slice(1).map((time, index) => `×${(time / times[index]!).toFixed(2)}`);
    const shown = times.map((time) => `${time.toFixed(2)} ms`.padStart(18)).join('');
    console.log(`${what.padEnd(34)}${shown}   ${growth.join(' ')}`);
  }
}

await onNewDatabase(name, async (databaseUrl) => {
  const database = openServer(databaseUrl);
  await migrate(database.db);
  const side = await startSide(database);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    print(await measure(side, client));
  } finally {
    await client.end();
    await side.close();
  }
});
