import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

/*
 * Whatever happens to logs, rates, tasks and the time zone, each log has the rate that a model in a few lines finds, projects and
 * timesheets amount to the sum of their logs to the minor unit, and parts of logs to the logs.
 */

const service = await startService();
const { db } = service.database;

/** Berlin's clocks change on 31 March, those of New York on the 10th, those of Apia on 7 April. */
const zones = ['Europe/Berlin', 'America/New_York', 'Pacific/Apia'];
const range = 'from=2024-02-01&to=2024-05-31';
const groupings = ['day', 'week', 'project', 'task', 'employee'];
const hourMs = 3_600_000;
const levels = ['task', 'projectAndEmployee', 'project', 'employee', 'company'] as const;
type Level = (typeof levels)[number];

type Price = { minorUnits: number; currency: string };
type ModelLog = {
  task: number;
  project: number;
  employee: number;
  start: number;
  end: number;
  billable: boolean;
  rate: Price | null;
};
type World = {
  admin: Actor;
  zone: string;
  employees: number[];
  projects: number[];
  /** The project of each task. */
  tasks: Map<number, number>;
  /** By subject and first day. */
  rates: Map<string, Price | null>;
  logs: Map<number, ModelLog>;
};
type Step = (world: World) => Promise<void>;
type Subject = { task?: number; project?: number; employee?: number };

const keyOf = ({ task = 0, project = 0, employee = 0 }: Subject): string => `${task} ${project} ${employee}`;
const subjectAt = (level: Level, { task, project, employee }: Required<Subject>): Subject =>
  ({
    task: { task },
    projectAndEmployee: { project, employee },
    project: { project },
    employee: { employee },
    company: {},
  })[level];

function rateOf({ zone, rates }: World, log: Required<Subject> & { start: number; billable: boolean }): Price | null {
  if (!log.billable) return null;
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(log.start);
  for (const level of levels) {
    const prefix = `${keyOf(subjectAt(level, log))} `;
    const days = [...rates.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
    const latest = days
      .filter((validFrom) => validFrom <= day)
      .toSorted()
      .at(-1);
    const rate = latest === undefined ? null : rates.get(prefix + latest)!;
    if (rate) return rate;
  }
  return null;
}

const amountOf = ({ start, end }: ModelLog, { minorUnits }: Price): bigint =>
  (BigInt(Math.round((end - start) / 1000)) * BigInt(minorUnits) + 1800n) / 3600n;

function expectDone(status: number): void {
  expect(status).toBe(200);
}

const index = fc.nat({ max: 1000 });
const pick = <Item>(items: Iterable<Item>, at: number): Item => {
  const list = [...items];
  return list[at % list.length]!;
};
const iso = (ms: number): string => new Date(ms).toISOString();

const price = fc.oneof(
  { weight: 4, arbitrary: fc.record({ minorUnits: fc.nat({ max: 99_999 }), currency: fc.constantFrom('EUR', 'JPY') }) },
  { weight: 1, arbitrary: fc.constant(null) },
);
/** Around the changes of the clocks, to the second. */
const span = fc
  .record({
    moment: fc.constantFrom('2024-03-10T07:00Z', '2024-03-31T01:00Z', '2024-04-06T14:00Z'),
    from: fc.integer({ min: -130_000, max: 130_000 }),
    lasts: fc.oneof(fc.integer({ min: 1, max: 86_400 }), fc.integer({ min: 1, max: 100 })),
  })
  .map(({ moment, from, lasts }) => {
    const start = Date.parse(moment) + from * 1000;
    return { start, end: start + lasts * 1000 };
  });

const setRate = fc
  .record({
    level: fc.constantFrom(...levels),
    task: index,
    project: index,
    employee: index,
    validFrom: fc.constantFrom('2024-01-01', '2024-03-10', '2024-03-31', '2024-04-01', '2024-04-07'),
    price,
  })
  .map(({ level, validFrom, price, ...at }): Step => async ({ admin, tasks, projects, employees, rates }) => {
    const subject = subjectAt(level, {
      task: pick(tasks.keys(), at.task),
      project: pick(projects, at.project),
      employee: pick(employees, at.employee),
    });
    const { status } = await admin.put(`/api/rates/${admin.companyId}/`, {
      task_id: subject.task,
      project_id: subject.project,
      employee_id: subject.employee,
      validFrom,
      hourlyRate: price,
    });
    expectDone(status);
    rates.set(`${keyOf(subject)} ${validFrom}`, price);
  });
const create = fc
  .record({ task: index, employee: index, span, billable: fc.option(fc.boolean()) })
  .map(({ billable, ...at }): Step => async (world) => {
    const [task, employee] = [pick(world.tasks.keys(), at.task), pick(world.employees, at.employee)];
    const { status, body } = await world.admin.post('/tasklog/create/', {
      task_id: task,
      employee_id: employee,
      start_time: iso(at.span.start),
      end_time: iso(at.span.end),
      ...(billable === null ? {} : { billable }),
    });
    if (status === 409) return;
    expectDone(status);
    const log = { task, project: world.tasks.get(task)!, employee, ...at.span, billable: billable ?? true };
    world.logs.set(body._id, { ...log, rate: rateOf(world, log) });
  });
const update = fc
  .record({
    log: index,
    task: fc.option(index),
    employee: fc.option(index),
    span: fc.option(span),
    billable: fc.option(fc.boolean()),
  })
  .map((to): Step => async (world) => {
    if (world.logs.size === 0) return;
    const [id, before] = pick(world.logs, to.log);
    const task = to.task === null ? before.task : pick(world.tasks.keys(), to.task);
    const employee = to.employee === null ? before.employee : pick(world.employees, to.employee);
    const { start, end } = to.span ?? before;
    const { status } = await world.admin.put(`/tasklogs/${id}/`, {
      description: 'Corrected',
      taskId: task,
      userId: employee,
      startTime: iso(start),
      endTime: iso(end),
      ...(to.billable === null ? {} : { billable: to.billable }),
    });
    if (status === 409) return;
    expectDone(status);
    const billable = to.billable ?? before.billable;
    const after = { task, project: world.tasks.get(task)!, employee, start, end, billable };
    const dayOf = (ms: number) => new Intl.DateTimeFormat('en-CA', { timeZone: world.zone }).format(ms);
    const isSame =
      (['task', 'project', 'employee', 'billable'] as const).every((key) => before[key] === after[key]) &&
      dayOf(before.start) === dayOf(start);
    world.logs.set(id, { ...after, rate: isSame ? before.rate : rateOf(world, after) });
  });
const remove = index.map((at): Step => async ({ admin, logs }) => {
  if (logs.size === 0) return;
  const [id] = pick(logs, at);
  expectDone((await admin.delete(`/api/tasklogs/delete/${id}/`)).status);
  logs.delete(id);
});
const moveTask = fc.record({ task: index, project: index }).map((at): Step => async (world) => {
  const [task, project] = [pick(world.tasks.keys(), at.task), pick(world.projects, at.project)];
  expectDone((await world.admin.patch(`/api/tasks/${task}/`, { projectId: project })).status);
  if (world.tasks.get(task) === project) return;
  world.tasks.set(task, project);
  for (const log of world.logs.values()) {
    if (log.task !== task) continue;
    log.project = project;
    log.rate = rateOf(world, log);
  }
});
const setZone = fc.constantFrom(...zones).map((zone): Step => async (world) => {
  expectDone((await world.admin.put(`/company/${world.admin.companyId}/update/`, { timezone: zone })).status);
  world.zone = zone;
});
const apply = fc.option(index).map((project): Step => async (world) => {
  const only = project === null ? undefined : pick(world.projects, project);
  const { status } = await world.admin.post('/api/tasklogs/apply-rates/', {
    from: '2024-02-01',
    to: '2024-05-31',
    project_id: only,
    dryRun: false,
  });
  expectDone(status);
  for (const log of world.logs.values()) if (only === undefined || log.project === only) log.rate = rateOf(world, log);
});

type Sums = Record<string, bigint>;
function sumOf(amounts: Iterable<Price | { minorUnits: bigint; currency: string }>): Sums {
  const sums: Sums = {};
  for (const { minorUnits, currency } of amounts) sums[currency] = (sums[currency] ?? 0n) + BigInt(minorUnits);
  return Object.fromEntries(
    Object.entries(sums)
      .filter(([, sum]) => sum !== 0n)
      .toSorted(([one], [other]) => one.localeCompare(other)),
  );
}
const chargesOf = (logs: Iterable<ModelLog>): Sums =>
  sumOf(
    [...logs].flatMap((log) =>
      log.rate ? [{ minorUnits: amountOf(log, log.rate), currency: log.rate.currency }] : [],
    ),
  );

async function expectTruth({ admin, tasks, projects, employees, logs }: World): Promise<void> {
  expect((await verifyTotals(db, admin.companyId)).differences).toEqual([]);
  for (const task of tasks.keys())
    for (const { _id, charge } of (await admin.get(`/taskLogs/task/${task}/`)).body.taskLogs) {
      const log = logs.get(_id)!;
      expect({ _id, charge }).toEqual({
        _id,
        charge: log.rate && {
          hourlyRate: log.rate,
          amount: { ...log.rate, minorUnits: Number(amountOf(log, log.rate)) },
        },
      });
    }
  const of = (key: 'project' | 'employee', id: number) => [...logs.values()].filter((log) => log[key] === id);
  for (const project of projects)
    expect(sumOf((await admin.get(`/api/projects/${project}/`)).body.amounts)).toEqual(
      chargesOf(of('project', project)),
    );
  for (const groupBy of groupings) {
    const query = `${range}&amounts=true&groupBy=${groupBy}`;
    const { body } = await admin.get(`/api/timesheets/${admin.companyId}/?${query}`);
    expect(sumOf(body.totalAmounts)).toEqual(chargesOf(logs.values()));
    expect(sumOf(body.rows.flatMap((row: { amounts: Price[] }) => row.amounts))).toEqual(chargesOf(logs.values()));
    for (const employee of employees) {
      const rows = body.rows.filter((row: { userId?: number }) => row.userId === employee);
      if (body.rows[0]?.userId === undefined) continue;
      expect(sumOf(rows.flatMap((row: { amounts: Price[] }) => row.amounts))).toEqual(
        chargesOf(of('employee', employee)),
      );
    }
  }
}

test('amounts of logs, projects and timesheets are those of a recount, to the minor unit', async () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: setRate },
      { weight: 5, arbitrary: create },
      { weight: 3, arbitrary: update },
      { weight: 1, arbitrary: remove },
      { weight: 1, arbitrary: moveTask },
      { weight: 1, arbitrary: setZone },
      { weight: 1, arbitrary: apply },
    ),
    { minLength: 15, maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const admin = await service.registerCompany();
      const colleague = { first_name: 'Grace', last_name: 'Hopper', email: `grace${admin.companyId}@example.com` };
      const added = await admin.post('/employee/add/', { ...colleague, companyId: admin.companyId });
      const [first, second] = [await startWork(admin), await startWork(admin)];
      const third = await addTask(admin, first.projectId);
      const world: World = {
        admin,
        zone: 'UTC',
        employees: [admin.employeeId, added.body._id],
        projects: [first.projectId, second.projectId],
        tasks: new Map([
          [first.taskId, first.projectId],
          [second.taskId, second.projectId],
          [third, first.projectId],
        ]),
        rates: new Map(),
        logs: new Map(),
      };
      for (const step of steps) await step(world);
      await expectTruth(world);
    }),
    { numRuns: 8 },
  );
}, 60_000);

test('a part of a log is rounded with the parts before it, so that they add up to the log', async () => {
  const admin = await service.registerCompany();
  const { taskId } = await startWork(admin);
  const rate = { minorUnits: 1, currency: 'EUR' };
  await admin.put(`/api/rates/${admin.companyId}/`, { validFrom: '2024-01-01', hourlyRate: rate });
  // One unit an hour: 00:40 h before midnight round to one unit, and 01:40 h in all to two.
  const start = Date.parse('2024-03-04T23:20Z');
  const times = { start_time: iso(start), end_time: iso(start + (100 / 60) * hourMs) };
  const log = await admin.post('/tasklog/create/', { task_id: taskId, employee_id: admin.employeeId, ...times });
  expect(log.body.charge).toEqual({ hourlyRate: rate, amount: { minorUnits: 2, currency: 'EUR' } });
  const { body } = await admin.get(`/api/timesheets/${admin.companyId}/?${range}&amounts=true`);
  expect(body.rows).toMatchObject([
    { date: '2024-03-04', amounts: [{ minorUnits: 1, currency: 'EUR' }] },
    { date: '2024-03-05', amounts: [{ minorUnits: 1, currency: 'EUR' }] },
  ]);
});
