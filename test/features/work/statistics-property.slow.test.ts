import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { verifyCounts } from '../../../db/derived/verify-counts.ts';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import type { Actor, Answer } from '../../support/actor.ts';
import { countAnew, storedCounts, toPerformance, toStatistics } from '../../support/figures.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/*
 * Whatever people do, in whichever order and at once: what is kept is what the rows say, and what is answered is what
 * is counted from the rows by a program that shares nothing with the service.
 */
const service = await startService();
const { database, clock } = service;

const zones = ['UTC', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'] as const;
const dayMs = 24 * 3600 * 1000;
/** How many of the steps are taken at once. */
const atOnce = 6;

/** What is there to be worked on; a number of a step picks one of them, whatever is there by then. */
type World = {
  admin: Actor;
  people: Actor[];
  projects: number[];
  tasks: number[];
  logs: number[];
  comments: { _id: number; taskId: number; sender: Actor }[];
};

const index = fc.nat({ max: 10_000 });
const step = fc.record({
  kind: fc.constantFrom(
    ...Array<'addTask'>(8).fill('addTask'),
    ...Array<'changeTask'>(12).fill('changeTask'),
    ...Array<'deleteTask'>(2).fill('deleteTask'),
    ...Array<'addProject'>(2).fill('addProject'),
    'changeProject',
    'deleteProject',
    ...Array<'addLog'>(8).fill('addLog'),
    ...Array<'addLogs'>(4).fill('addLogs'),
    ...Array<'changeLog'>(6).fill('changeLog'),
    ...Array<'deleteLog'>(3).fill('deleteLog'),
    ...Array<'addComment'>(5).fill('addComment'),
    ...Array<'deleteComment'>(3).fill('deleteComment'),
    'changeZone',
  ),
  which: index,
  task: index,
  project: index,
  person: index,
  status: fc.constantFrom('todo', 'in_progress', 'in_review', 'done'),
  dueInDays: fc.option(fc.integer({ min: -3, max: 3 })),
  /** Which fields a change names. */
  changes: fc.record({ task: fc.boolean(), project: fc.boolean(), person: fc.boolean(), times: fc.boolean() }),
  agoMs: fc.integer({ min: 1000, max: 40 * dayMs }),
  lastsMs: fc.integer({ min: 1, max: dayMs }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const pick = <Item>(items: readonly Item[], at: number): Item => items[at % items.length]!;
const isDone = ({ status }: Answer): boolean => status === 200;

async function add(answer: Promise<Answer>, to: number[]): Promise<Answer> {
  const made = await answer;
  if (isDone(made)) to.push(made.body._id);
  return made;
}

/** What has gone is not picked again, or most steps would soon find nothing. */
async function drop<Item>(answer: Promise<Answer>, item: Item, from: Item[], statuses = [200, 404]): Promise<Answer> {
  const dropped = await answer;
  if (statuses.includes(dropped.status) && from.includes(item)) from.splice(from.indexOf(item), 1);
  return dropped;
}

const dueDateOf = ({ dueInDays }: Step): string | null =>
  dueInDays === null ? null : new Date(clock.now().getTime() + dueInDays * dayMs).toISOString().slice(0, 10);

/** In the last 40 days, at most a day long, to the millisecond. */
function periodOf({ agoMs, lastsMs }: Step, shiftMs = 0) {
  const start = clock.now().getTime() - agoMs - shiftMs;
  return { start: new Date(start), end: new Date(start + Math.min(lastsMs, agoMs)) };
}

const taken: Record<Step['kind'], (world: World, step: Step) => Promise<Answer> | undefined> = {
  addTask: ({ admin, people, projects, tasks }, step) => {
    const { employeeId: owner_id } = pick(people, step.person);
    const task = { projectId: pick(projects, step.project), title: 'Task', status: step.status, owner_id };
    return add(admin.post('/api/tasks/', { ...task, dueDate: dueDateOf(step) }), tasks);
  },
  changeTask: ({ admin, people, projects, tasks }, step) => {
    const taskId = pick(tasks, step.task);
    const { changes } = step;
    const changed = {
      ...(changes.project ? { projectId: pick(projects, step.project) } : {}),
      ...(changes.person ? { owner_id: pick(people, step.person).employeeId } : {}),
      ...(changes.task ? { status: step.status } : {}),
      ...(changes.times ? { dueDate: dueDateOf(step) } : {}),
    };
    return drop(admin.patch(`/api/tasks/${taskId}/`, changed), taskId, tasks, [404]);
  },
  deleteTask: ({ admin, tasks }, step) => {
    const taskId = pick(tasks, step.task);
    return tasks.length < 6 ? undefined : drop(admin.delete(`/api/tasks/${taskId}/`), taskId, tasks);
  },
  addProject: ({ admin, projects }) =>
    add(admin.post('/api/projects/', { name: 'Project', allocatedHours: 20 }), projects),
  changeProject: ({ admin, projects }, { project, changes }) =>
    admin.patch(`/api/projects/${pick(projects, project)}/`, { status: changes.task ? 'active' : 'on_hold' }),
  deleteProject: ({ admin, projects }, { project }) => {
    const projectId = pick(projects, project);
    return projects.length < 4 ? undefined : drop(admin.delete(`/api/projects/${projectId}/`), projectId, projects);
  },
  addLog: ({ admin, people, tasks, logs }, step) => {
    const { start, end } = periodOf(step);
    const task_id = pick(tasks, step.task);
    const log = { task_id, employee_id: pick(people, step.person).employeeId, start_time: start, end_time: end };
    return drop(add(admin.post('/tasklog/create/', log), logs), task_id, tasks, [400]);
  },
  addLogs: async ({ admin, people, tasks, logs }, step) => {
    const userId = pick(people, step.person).employeeId;
    const entries = Array.from({ length: 1 + (step.which % 5) }, (_, nth) => {
      const { start: startTime, end: endTime } = periodOf(step, nth * step.which * 1000);
      return { taskId: pick(tasks, step.task + nth), userId, startTime, endTime, manualAdd: true };
    });
    const answer = await admin.post(`/tasklogs/bulk/create/${userId}/`, entries);
    if (isDone(answer)) for (const { _id } of answer.body.created) logs.push(_id);
    return answer;
  },
  changeLog: ({ admin, people, tasks, logs }, step) => {
    if (logs.length === 0) return undefined;
    const log = pick(logs, step.which);
    const { changes } = step;
    const { start, end } = periodOf(step);
    const changed = {
      ...(changes.task ? { taskId: pick(tasks, step.task) } : {}),
      ...(changes.person ? { userId: pick(people, step.person).employeeId } : {}),
      ...(changes.times ? { startTime: start, endTime: end } : {}),
    };
    return drop(admin.put(`/tasklogs/${log}/`, changed), log, logs, [404]);
  },
  deleteLog: ({ admin, logs }, step) => {
    const log = pick(logs, step.which);
    return logs.length === 0 ? undefined : drop(admin.delete(`/api/tasklogs/delete/${log}/`), log, logs);
  },
  addComment: async ({ people, tasks, comments }, step) => {
    const sender = pick(people, step.person);
    const answered = step.changes.task ? comments[step.which % 10] : undefined;
    const taskId = answered?.taskId ?? pick(tasks, step.task);
    const comment = { taskId, sender: sender.employeeId, message: 'Done', reply_to: answered?._id ?? null };
    const answer = await sender.post('/api/task-chats/', comment);
    if (isDone(answer)) comments.push({ _id: answer.body._id, taskId, sender });
    return answer;
  },
  deleteComment: ({ comments }, { which }) => {
    const comment = pick(comments, which);
    if (comments.length === 0) return undefined;
    return drop(comment.sender.delete(`/api/taskchat/${comment._id}/`), comment, comments);
  },
  changeZone: ({ admin }, { which }) =>
    admin.put(`/company/${admin.companyId}/update/`, { timezone: pick(zones, which) }),
};

async function createWorld(): Promise<World> {
  const admin = await service.registerCompany();
  const [lead, hand] = [await service.addEmployee(admin, { isTeamLeader: true }), await service.addEmployee(admin)];
  const work = [await startWork(admin), await startWork(admin), await startWork(admin)];
  const projects = work.map(({ projectId }) => projectId);
  const tasks = work.map(({ taskId }) => taskId);
  return { admin, people: [admin, lead, hand], projects, tasks, logs: [], comments: [] };
}

async function checkFigures({ admin }: World): Promise<void> {
  const { db } = database;
  const { companyId } = admin;
  expect((await verifyTotals(db, companyId)).differences).toEqual([]);
  expect((await verifyCounts(db, companyId)).differences).toEqual([]);
  const counted = await countAnew(db, companyId);
  expect(await storedCounts(db, companyId)).toEqual(counted.kept);
  const now = clock.now();
  expect((await admin.get(`/task-statistics/${companyId}/`)).body).toEqual(toStatistics(counted, now));
  const { employees } = (await admin.get(`/api/performance/${companyId}/`)).body;
  expect(employees.length).toBe(3);
  for (const { name: _name, ...row } of employees) expect(row).toEqual(toPerformance(counted, row.employee_id, now));
}

/** Timesheets read the logs; other statements computed the stored days. */
async function checkTimesheets({ admin }: World): Promise<void> {
  const { companyId } = admin;
  const dayOf = (inDays: number) => new Date(clock.now().getTime() + inDays * dayMs).toISOString().slice(0, 10);
  const sheetBy = async (groupBy: string) =>
    (await admin.get(`/api/timesheets/${companyId}/?from=${dayOf(-300)}&to=${dayOf(2)}&groupBy=${groupBy}`)).body;
  const kept = await database.db
    .selectFrom('work_days')
    .where('company_id', '=', companyId)
    // What rounds to no time has no row in a timesheet.
    .where('logged_seconds', '>', 0)
    .select(['employee_id as userId', 'day as date', 'logged_seconds as seconds'])
    .orderBy('employee_id')
    .orderBy('day')
    .execute();
  const days: { userId: number; date: string; seconds: number }[] = (await sheetBy('day')).rows;
  const shown = days.map(({ userId, date, seconds }) => ({ userId, date, seconds }));
  expect(shown.toSorted((a, b) => a.userId - b.userId)).toEqual(kept);
  const total = kept.reduce((sum, { seconds }) => sum + seconds, 0);
  for (const groupBy of ['week', 'project', 'task', 'employee'])
    expect((await sheetBy(groupBy)).totalSeconds).toBe(total);
}

describe('figures', () => {
  test('are what the rows say after any work, also by many at once', { timeout: 120_000 }, async () => {
    const run = async (steps: Step[]) => {
      const world = await createWorld();
      let done = 0;
      for (let from = 0; from < steps.length; from += atOnce) {
        const together = steps.slice(from, from + atOnce);
        const answers = await Promise.all(together.map(async (step) => taken[step.kind](world, step)));
        const statuses = answers.flatMap((answer) => (answer ? [answer.status] : []));
        expect(statuses.filter((status) => ![200, 400, 404, 409].includes(status))).toEqual([]);
        done += statuses.filter((status) => status === 200).length;
      }
      // Most of what is tried can be done.
      expect(done).toBeGreaterThan(steps.length / 2);
      await checkFigures(world);
      await checkTimesheets(world);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 250, maxLength: 350, size: 'max' }), run), {
      // The embedded database runs one statement at a time, so only a server shows what steps at once do to each other.
      numRuns: inject('template').kind === 'server' ? 7 : 3,
      // Each smaller example would take a second; the seed repeats this one.
      endOnFailure: true,
    });
  });
});
