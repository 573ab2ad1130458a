import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { createCaller, type Caller } from '../support/actor.ts';
import { endAllProcesses, makeHome, runToEnd, startProcess, type Home } from '../support/process.ts';
import { hasPostgresPrograms, startPair } from '../support/standby.ts';
import { waitUntil } from '../support/waiting.ts';

const isServer = inject('template').kind === 'server';
afterAll(endAllProcesses);

type Metrics = { used: number; lag: number | undefined; replica: number; primary: number };

async function metricsOf(caller: Caller): Promise<Metrics> {
  const { body }: { body: string } = await caller.get('/metrics');
  const value = (name: string) => {
    const line = body.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length));
  };
  return {
    used: value('replica_used')!,
    lag: value('replica_lag_seconds'),
    replica: value('replica_reads_total{server="replica"}')!,
    primary: value('replica_reads_total{server="primary"}')!,
  };
}

/** The admin of the demo company. */
async function signIn(url: string, { folder }: Home) {
  const signInOfDemo = await readFile(join(folder, 'demo-sign-in.json'), 'utf8');
  const { body } = await createCaller(url).post('/login/', JSON.parse(signInOfDemo));
  return { admin: createCaller(url, body), employeeId: body.employee._id, companyId: body.employee.companyId };
}

describe.runIf(isServer && hasPostgresPrograms)('a service with a streaming standby', () => {
  test('reads each write back from it, and serves on when it is promoted or dies', { timeout: 120_000 }, async () => {
    const [pair, home] = await Promise.all([startPair(), makeHome({ isNew: true })]);
    onTestFinished(async () => {
      await endAllProcesses();
      await Promise.all([pair.close(), home.remove()]);
    });
    const { url, stdout } = await startProcess({
      DATA_DIR: home.folder,
      DATABASE_URL: pair.primaryUrl,
      DATABASE_REPLICA_URL: pair.standbyUrl,
      // However busy this machine is.
      DATABASE_REPLICA_LAG_MAX_MS: '20000',
    });
    const { admin, employeeId, companyId } = await signIn(url, home);
    const { body: tasks } = await admin.get(`/api/tasks/company/${companyId}/`);
    const taskId: number = tasks.results[0]._id;
    await waitUntil(async () => (await metricsOf(admin)).used === 1);
    const before = await metricsOf(admin);
    expect(before.lag).toBeLessThan(20);

    const day = '2026-03-02';
    const timesheet = `/api/timesheets/${companyId}/?from=${day}&to=${day}`;
    const [logs, ...reports] = [
      `/taskLogs/task/${taskId}/`,
      `/task-statistics/${companyId}/`,
      `/api/performance/${companyId}/`,
    ];
    const { totalSeconds } = (await admin.get(logs)).body;
    for (let hour = 1; hour <= 12; hour += 1) {
      const time = (minutes: string) => `${day}T${String(hour).padStart(2, '0')}:${minutes}:00Z`;
      const log = { task_id: taskId, employee_id: employeeId, start_time: time('00'), end_time: time('01') };
      expect(await admin.post('/tasklog/create/', log)).toMatchObject({ status: 200 });
      expect((await admin.get(timesheet)).body.totalSeconds).toBe(hour * 60);
      expect((await admin.get(logs)).body.totalSeconds).toBe(totalSeconds + hour * 60);
    }
    for (const path of [timesheet, logs, ...reports]) {
      const { replica } = await metricsOf(admin);
      expect(await admin.get(path)).toMatchObject({ status: 200 });
      expect((await metricsOf(admin)).replica).toBeGreaterThan(replica);
    }
    expect((await metricsOf(admin)).primary).toBe(before.primary);

    await pair.promote();
    const isNotUsed = async () => (await metricsOf(admin)).used === 0;
    await waitUntil(isNotUsed);
    expect((await admin.get(timesheet)).body.totalSeconds).toBe(12 * 60);
    await pair.killStandby();
    expect((await admin.get(timesheet)).body.totalSeconds).toBe(12 * 60);
    expect(await admin.get('/readyz')).toMatchObject({ status: 200 });
    await waitUntil(() => stdout().includes('the replica does not answer'));
    expect(stdout()).toContain('the replica is no standby: long reads go to the primary');
  });
});

test.runIf(isServer)('a start is refused where DATABASE_REPLICA_URL leads to another database', async () => {
  const [home, other] = await Promise.all([makeHome(), makeHome()]);
  onTestFinished(async () => void (await Promise.all([home.remove(), other.remove()])));
  const refused = await runToEnd({ ...home.environment, DATABASE_REPLICA_URL: other.databaseUrl! });
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^DATABASE_REPLICA_URL leads to another database \(\S+\) than DATABASE_URL: set it to a standby of that\.\n$/,
    ),
  });
});
