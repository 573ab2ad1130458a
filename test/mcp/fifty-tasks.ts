import { expect } from 'vitest';
import type { ToolName } from '../../server/kernel/tool.ts';
import type { Actor } from '../support/actor.ts';
import { dayAfter } from '../support/hours.ts';
import { brief, type Company } from './work-of-a-company.ts';

/*
 * What people ask of an agent, and the calls that a capable one makes for it. Each is a conversation of its own, in this
 * order. Days and numbers come from what was answered before in it, as an agent has nothing else.
 */

// oxlint-disable-next-line typescript/no-explicit-any
type Result = any;
type Args = Record<string, unknown>;

/**
 * A tool, its arguments or how they follow from the results so far, and the code of the error that it is answered, or with
 * what it is called again while its result goes on.
 */
type Call = [tool: ToolName, args?: Args | ((...so: Result[]) => Args), end?: string | More];
type More = (result: Result) => Args | undefined;

const atCursor: More = ({ next_cursor: cursor }) => cursor && { cursor };
const atText: More = ({ description }) => {
  const [, from] = /text_from: (\d+)\]$/.exec(description) ?? [];
  return from === undefined ? undefined : { text_from: Number(from) };
};

export type Task = {
  says: string;
  /** Whose agent it is: Priya's, who leads a team, unless it says otherwise. */
  as?: 'priya' | 'tom' | 'reader';
  calls: Call[];
  /** What holds afterwards, as REST has it. */
  holds(now: Now): Promise<void> | void;
};

/** The company after the calls, and what they answered. */
export type Now = { company: Company; so: Result[]; get(path: string, as?: Actor): Promise<Result> };

/* What an agent works out from who_am_i. */
const today = (who: Result): string => who.local_time.slice(0, 10);
const day = (who: Result, days: number): string => dayAfter(today(who), days);
/** ISO 8601 in the zone of the company. */
const at = (who: Result, days: number, time: string): string =>
  `${day(who, days)}T${time}:00${who.local_time.slice(19)}`;
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const sinceMonday = (who: Result): number => weekdays.indexOf(who.weekday);
/** The first and last day of a week; -1 is last week. */
const week = (who: Result, weeks: number): { from: string; to: string } => {
  const first = 7 * weeks - sinceMonday(who);
  return { from: day(who, first), to: day(who, first + 6) };
};
const lastMonday = (who: Result): number => -sinceMonday(who) - 7;

/* What is looked at afterwards. */
const logsOf = async ({ get, company }: Now, title: string): Promise<Result[]> =>
  (await get(`/taskLogs/task/${company.tasks[title]}/`)).taskLogs;
const logsBy = async (now: Now, title: string, who: keyof Company['people'], from: string): Promise<Result[]> =>
  (await logsOf(now, title)).filter(
    ({ userId, startTime }) =>
      userId === now.company.people[who].employeeId && startTime === new Date(from).toISOString(),
  );
const taskCalled = async ({ get, company }: Now, q: string): Promise<Result[]> =>
  (await get(`/api/tasks/company/${company.people.priya.companyId}/?q=${encodeURIComponent(q)}`)).results;
const periodsOf = async ({ get, company }: Now, who: keyof Company['people'], from: string): Promise<string[]> => {
  const { companyId, employeeId } = company.people[who];
  const path = `/api/timesheet-periods/company/${companyId}/?employee_id=${employeeId}&from=${from}&to=${from}`;
  return (await get(path)).results.map(({ status }: Result) => status);
};
const sheet = ({ get, company }: Now, query: string): Promise<Result> =>
  get(`/api/timesheets/${company.people.priya.companyId}/?${query}`);
/** Comments and their replies. */
const commentsOn = async ({ get, company }: Now, title: string): Promise<Result[]> =>
  (await get(`/api/tasks/chat/${company.tasks[title]}/`)).comments.flatMap(withReplies);
const withReplies = (comment: Result): Result[] => [comment, ...comment.replies.flatMap(withReplies)];

const fair = 'Set up the winter fair';
/** The number that an error offers for a name. */
const offered = ({ error }: Result, name: string): number =>
  Number(new RegExp(`(\\d+) "${name}`).exec(error.issues[0].message)![1]);
const last = (so: Result[]): Result => so.at(-1);

const time: Task[] = [
  {
    says: 'Log two hours on the winter fair yesterday, unless already there.',
    calls: [
      ['who_am_i'],
      ['timesheet', (who) => ({ from: day(who, -1), to: day(who, -1), employee_id: 'me', group_by: 'task' })],
      [
        'log_time',
        (who) => ({ task_id: 'winter fair', start_time: at(who, -1, '09:00'), end_time: at(who, -1, '11:00') }),
      ],
    ],
    async holds(now) {
      const yesterday = dayAfter(now.company.today, -1);
      expect(now.so[1].rows).toEqual([]);
      expect(await logsBy(now, fair, 'priya', `${yesterday}T09:00+10:00`)).toMatchObject([{ durationSeconds: 7200 }]);
    },
  },
  {
    says: 'Log two hours on the winter fair yesterday, unless already there.',
    calls: [
      ['who_am_i'],
      ['timesheet', (who) => ({ from: day(who, -1), to: day(who, -1), employee_id: 'me', group_by: 'task' })],
    ],
    async holds(now) {
      expect(now.so[1].rows).toMatchObject([{ task: fair, hours: 2 }]);
      expect(
        (await sheet(now, `from=${day(now.so[0], -1)}&to=${day(now.so[0], -1)}&userId=${now.so[0].employee.id}`))
          .totalSeconds,
      ).toBe(7200);
    },
  },
  {
    says: 'I worked on the winter fair yesterday from nine to eleven, log that.',
    calls: [
      ['who_am_i'],
      [
        'log_time',
        (who) => ({ task_id: 'winter fair', start_time: at(who, -1, '09:00'), end_time: at(who, -1, '11:00') }),
        'DUPLICATE_TASK_LOG',
      ],
    ],
    async holds(now) {
      expect(await logsBy(now, fair, 'priya', at(now.so[0], -1, '09:00'))).toHaveLength(1);
    },
  },
  {
    says: 'Make what I logged on the winter fair yesterday three hours.',
    calls: [
      ['who_am_i'],
      ['get_task', { task_id: 'winter fair', include: ['logs'] }],
      [
        'log_time',
        (who, task) => ({
          log_id: task.logs.task_logs.find(({ employee_id }: Result) => employee_id === who.employee.id).id,
          end_time: at(who, -1, '12:00'),
        }),
      ],
    ],
    async holds(now) {
      expect(await logsBy(now, fair, 'priya', at(now.so[0], -1, '09:00'))).toMatchObject([{ durationSeconds: 10_800 }]);
    },
  },
  {
    says: 'Ninety minutes on reviewing the landing page on Tuesday evening from six, with a note that it is in order.',
    calls: [
      ['who_am_i'],
      [
        'log_time',
        (who) => ({
          task_id: 'Review the landing page',
          start_time: at(who, 1 - sinceMonday(who), '18:00'),
          end_time: at(who, 1 - sinceMonday(who), '19:30'),
          description: 'It is in order.',
        }),
      ],
    ],
    async holds(now) {
      const logs = await logsBy(now, 'Review the landing page', 'priya', `${dayAfter(now.company.monday, 1)}T08:00Z`);
      expect(logs).toMatchObject([{ durationSeconds: 5400, description: 'It is in order.' }]);
    },
  },
  {
    says: 'Tom forgot yesterday: one to five on ordering the stage.',
    calls: [
      ['who_am_i'],
      [
        'log_time',
        (who) => ({
          task_id: 'Order the stage',
          employee_id: 'Tom',
          start_time: at(who, -1, '13:00'),
          end_time: at(who, -1, '17:00'),
        }),
      ],
    ],
    async holds(now) {
      expect(await logsBy(now, 'Order the stage', 'tom', at(now.so[0], -1, '13:00'))).toHaveLength(1);
    },
  },
  {
    says: 'Add an hour to the winter fair on the Tuesday of the week before last, at six in the evening.',
    calls: [
      ['who_am_i'],
      [
        'log_time',
        (who) => ({
          task_id: 'winter fair',
          start_time: at(who, lastMonday(who) - 6, '18:00'),
          end_time: at(who, lastMonday(who) - 6, '19:00'),
        }),
        'PERIOD_LOCKED',
      ],
    ],
    async holds(now) {
      expect(last(now.so).error.message).toContain(dayAfter(now.company.monday, -13));
      expect(await logsBy(now, fair, 'priya', at(now.so[0], lastMonday(now.so[0]) - 6, '18:00'))).toEqual([]);
    },
  },
  {
    says: 'Two hours from two o’clock yesterday on the draft of the cover.',
    calls: [
      ['who_am_i'],
      [
        'log_time',
        (who) => ({ task_id: 'the cover', start_time: at(who, -1, '14:00'), end_time: at(who, -1, '16:00') }),
        'VALIDATION_FAILED',
      ],
      [
        'log_time',
        (who, several) => ({
          task_id: offered(several, 'Draft'),
          start_time: at(who, -1, '14:00'),
          end_time: at(who, -1, '16:00'),
        }),
      ],
    ],
    async holds(now) {
      expect(await logsBy(now, 'Draft the cover', 'priya', at(now.so[0], -1, '14:00'))).toHaveLength(1);
    },
  },
  {
    says: 'My two hours on the draft of the cover belong on the booking of the cover.',
    calls: [
      ['who_am_i'],
      ['get_task', { task_id: 'Draft the cover', include: ['logs'] }],
      [
        'log_time',
        (who, task) => ({
          log_id: task.logs.task_logs.find(({ employee_id }: Result) => employee_id === who.employee.id).id,
          task_id: 'Book the cover',
        }),
      ],
    ],
    async holds(now) {
      expect(await logsBy(now, 'Draft the cover', 'priya', at(now.so[0], -1, '14:00'))).toEqual([]);
      expect(await logsBy(now, 'Book the cover', 'priya', at(now.so[0], -1, '14:00'))).toHaveLength(1);
    },
  },
  {
    says: 'No, remove what I logged yesterday on the booking of the cover.',
    calls: [
      ['who_am_i'],
      ['get_task', { task_id: 'Book the cover', include: ['logs'] }],
      [
        'delete',
        (who, task) => ({
          log_id: task.logs.task_logs.find(
            ({ employee_id, start_time }: Result) =>
              employee_id === who.employee.id && Date.parse(start_time) === Date.parse(at(who, -1, '14:00')),
          ).id,
        }),
      ],
    ],
    async holds(now) {
      expect(await logsBy(now, 'Book the cover', 'priya', at(now.so[0], -1, '14:00'))).toEqual([]);
    },
  },
  {
    says: 'Did Jonas log anything on Monday?',
    calls: [
      ['who_am_i'],
      [
        'timesheet',
        (who) => ({ from: week(who, 0).from, to: week(who, 0).from, employee_id: 'Jonas', group_by: 'task' }),
      ],
    ],
    async holds(now) {
      const { monday, people } = now.company;
      const { totalSeconds } = await sheet(now, `from=${monday}&to=${monday}&userId=${people.jonas.employeeId}`);
      expect(now.so[1].total_seconds).toBe(totalSeconds);
      expect(now.so[1].rows).toHaveLength(2);
    },
  },
  {
    says: 'How many hours did each of us work last week?',
    calls: [['who_am_i'], ['timesheet', (who) => ({ ...week(who, -1), group_by: 'employee' })]],
    async holds(now) {
      const { rows } = await sheet(
        now,
        `from=${dayAfter(now.company.monday, -7)}&to=${dayAfter(now.company.monday, -1)}&groupBy=employee`,
      );
      expect(now.so[1].rows.map(({ name, seconds }: Result) => [name, seconds])).toEqual(
        rows.map(({ name, seconds }: Result) => [name, seconds]),
      );
    },
  },
  {
    says: 'What went into the museum guide in the last four weeks, by person?',
    calls: [
      ['who_am_i'],
      ['timesheet', (who) => ({ from: day(who, -27), to: today(who), project_id: 'museum', group_by: 'employee' })],
    ],
    async holds(now) {
      const { projects, today: to } = now.company;
      const query = `from=${dayAfter(to, -27)}&to=${to}&groupBy=employee&projectId=${projects['Museum audio guide']}`;
      expect(now.so[1].total_seconds).toBe((await sheet(now, query)).totalSeconds);
      expect(now.so[1].rows.length).toBeGreaterThan(1);
    },
  },
  {
    says: 'Show me everybody’s days of the last four weeks.',
    calls: [['who_am_i'], ['timesheet', (who) => ({ from: day(who, -27), to: today(who) }), atCursor]],
    async holds(now) {
      const { rows } = await sheet(now, `from=${dayAfter(now.company.today, -27)}&to=${now.company.today}`);
      const shown = now.so.slice(1).flatMap(({ rows: some }) => some);
      expect(shown.map(({ employee_id, date }: Result) => `${employee_id} ${date}`)).toEqual(
        rows.map(({ userId, date }: Result) => `${userId} ${date}`),
      );
    },
  },
  {
    says: 'Was I short of hours last week?',
    calls: [
      ['who_am_i'],
      ['timesheet', (who) => ({ ...week(who, -1), employee_id: 'me', group_by: 'week', include: ['balance'] })],
    ],
    async holds(now) {
      const { from, to } = week(now.so[0], -1);
      const balance = await now.get(`/api/balances/${now.so[0].employee.id}/?from=${from}&to=${to}`);
      expect(now.so[1].balance.difference_seconds).toBe(balance.differenceSeconds);
      expect(balance.differenceSeconds).toBe(-5 * 3600);
    },
  },
];

const periods: Task[] = [
  {
    says: 'Hand in my last week.',
    calls: [['who_am_i'], ['submit_week', (who) => ({ action: 'submit', period_start: week(who, -1).from })]],
    async holds(now) {
      expect(await periodsOf(now, 'priya', dayAfter(now.company.monday, -7))).toEqual(['submitted']);
    },
  },
  {
    says: 'Friday is not complete: take my last week back.',
    calls: [
      ['who_am_i'],
      ['timesheet', (who) => ({ ...week(who, -1), employee_id: 'me', group_by: 'week', include: ['periods'] })],
      ['submit_week', (_, { periods: { results } }) => ({ action: 'withdraw', period_id: results[0].id })],
    ],
    async holds(now) {
      expect(await periodsOf(now, 'priya', dayAfter(now.company.monday, -7))).toEqual(['open']);
    },
  },
  {
    says: 'Add an hour on the supplier list last Friday at five, and hand the week in.',
    calls: [
      ['who_am_i'],
      [
        'log_time',
        (who) => ({
          task_id: 'Check the supplier list',
          start_time: at(who, lastMonday(who) + 4, '17:00'),
          end_time: at(who, lastMonday(who) + 4, '18:00'),
        }),
      ],
      ['submit_week', (who) => ({ action: 'submit', period_start: week(who, -1).from })],
    ],
    async holds(now) {
      expect(
        await logsBy(now, 'Check the supplier list', 'priya', at(now.so[0], lastMonday(now.so[0]) + 4, '17:00')),
      ).toHaveLength(1);
      expect(await periodsOf(now, 'priya', dayAfter(now.company.monday, -7))).toEqual(['submitted']);
      expect(last(now.so).total_seconds).toBe(36 * 3600);
    },
  },
  {
    says: 'Did I hand in last week? If not, do.',
    calls: [
      ['who_am_i'],
      ['submit_week', (who) => ({ action: 'submit', period_start: week(who, -1).from }), 'PERIOD_SUBMITTED'],
    ],
    async holds(now) {
      expect(await periodsOf(now, 'priya', dayAfter(now.company.monday, -7))).toEqual(['submitted']);
    },
  },
  {
    says: 'Hand in this week.',
    as: 'tom',
    calls: [
      ['who_am_i'],
      ['submit_week', (who) => ({ action: 'submit', period_start: today(who) }), 'VALIDATION_FAILED'],
      ['submit_week', (who) => ({ action: 'submit', period_start: week(who, 0).from })],
    ],
    async holds(now) {
      expect(await periodsOf(now, 'tom', now.company.monday)).toEqual(['submitted']);
    },
  },
  {
    says: 'Whose last week waits for my decision?',
    calls: [['who_am_i'], ['timesheet', (who) => ({ ...week(who, -1), group_by: 'employee', include: ['periods'] })]],
    holds({ so }) {
      const waiting = so[1].periods.results.filter(({ status }: Result) => status === 'submitted');
      expect(waiting.map(({ name }: Result) => name).toSorted()).toEqual([
        'Anna Berg',
        'Jonas Lind',
        'Mei Chen',
        'Priya Raman',
      ]);
    },
  },
  {
    says: 'Approve the last weeks of Anna and Jonas. Reject that of Mei: Tuesday is missing.',
    calls: [
      ['who_am_i'],
      ['timesheet', (who) => ({ ...week(who, -1), group_by: 'employee', include: ['periods'] })],
      [
        'submit_week',
        (_, { periods: { results } }) => ({
          action: 'decide',
          decision: 'approve',
          period_ids: idsOf(results, ['Anna Berg', 'Jonas Lind']),
        }),
      ],
      [
        'submit_week',
        (_, { periods: { results } }) => ({
          action: 'decide',
          decision: 'reject',
          period_ids: idsOf(results, ['Mei Chen']),
          note: 'Tuesday is missing.',
        }),
      ],
    ],
    async holds(now) {
      const from = dayAfter(now.company.monday, -7);
      expect(await periodsOf(now, 'annaB', from)).toEqual(['approved']);
      expect(await periodsOf(now, 'jonas', from)).toEqual(['approved']);
      expect(await periodsOf(now, 'mei', from)).toEqual(['rejected']);
    },
  },
];

const idsOf = (list: Result[], names: string[]): number[] =>
  list.filter(({ name }) => names.includes(name)).map(({ id }) => id);

const timerOf = async ({ get, company }: Now): Promise<Result> =>
  get(`/api/tasklogs/timer/${company.people.priya.employeeId}/`);

const timers: Task[] = [
  {
    says: 'Start my timer on the check of the price list.',
    calls: [['timer', { action: 'start', task_id: 'Check the price list' }]],
    async holds(now) {
      expect(await timerOf(now)).toMatchObject({ taskId: now.company.tasks['Check the price list'] });
    },
  },
  {
    says: 'Start my timer on the draft of the price list.',
    calls: [
      ['timer', { action: 'start', task_id: 'Draft the price list' }, 'TIMER_RUNNING'],
      ['timer', { action: 'stop' }],
      ['timer', { action: 'start', task_id: 'Draft the price list' }],
    ],
    async holds(now) {
      expect(await timerOf(now)).toMatchObject({ taskId: now.company.tasks['Draft the price list'] });
      expect((await logsOf(now, 'Check the price list')).filter(({ manualAdd }) => !manualAdd)).toHaveLength(1);
    },
  },
  {
    says: 'What is my timer on?',
    calls: [
      ['timer', { action: 'show' }],
      ['get_task', ({ task_id }) => ({ task_id })],
    ],
    holds({ so }) {
      expect(so[1].title).toBe('Draft the price list');
    },
  },
  {
    says: 'Stop the timer: I wrote the first page.',
    calls: [['timer', { action: 'stop', description: 'Wrote the first page' }]],
    async holds(now) {
      expect(await timerOf(now)).toEqual({ timer: null });
      expect(await logsOf(now, 'Draft the price list')).toContainEqual(
        expect.objectContaining({ description: 'Wrote the first page' }),
      );
    },
  },
];

const tasks: Task[] = [
  {
    says: 'What am I working on?',
    calls: [['list_tasks', { owner_id: 'me', status: 'in_progress' }]],
    async holds(now) {
      const { companyId, employeeId } = now.company.people.priya;
      const { total } = await now.get(`/api/tasks/company/${companyId}/?owner_id=${employeeId}&status=in_progress`);
      expect(now.so[0].results).toHaveLength(total);
    },
  },
  {
    says: 'Which tasks of the bakery wait for a review?',
    calls: [['list_tasks', { project_id: 'bakery', status: 'in_review' }]],
    async holds(now) {
      const { companyId } = now.company.people.priya;
      const { results } = await now.get(
        `/api/tasks/company/${companyId}/?projectId=${now.company.projects['Bakery app']}&status=in_review`,
      );
      expect(now.so[0].results.map(({ id }: Result) => id)).toEqual(results.map(({ _id }: Result) => _id));
    },
  },
  {
    says: 'List all that nobody has begun.',
    calls: [['list_tasks', { status: 'todo' }, atCursor]],
    holds({ so }) {
      const shown = so.flatMap(({ results }) => results).map(({ id }: Result) => id);
      expect(new Set(shown).size).toBe(so[0].total);
      expect(so.length).toBeGreaterThan(1);
    },
  },
  {
    says: 'Add a task to the winter fair: rent a tent. For Tom, due on Friday next week, six hours.',
    calls: [
      ['who_am_i'],
      [
        'save_task',
        (who) => ({
          project_id: 'winter fair',
          title: 'Rent a tent',
          owner_id: 'Tom',
          due_date: day(who, 11 - sinceMonday(who)),
          estimated_hours: 6,
        }),
      ],
    ],
    async holds(now) {
      const { people, monday } = now.company;
      const [tent, ...others] = await taskCalled(now, 'tent');
      expect(others).toEqual([]);
      expect(tent).toMatchObject({ owner_id: people.tom.employeeId, dueDate: dayAfter(monday, 11), estimatedHours: 6 });
      now.company.tasks['Rent a tent'] = tent._id;
    },
  },
  {
    says: 'Add a task to the winter fair: order the flowers. (The first answer is lost, so it is sent again.)',
    calls: [
      ['save_task', { project_id: 'winter fair', title: 'Order the flowers', idempotency_key: 'flowers-1' }],
      ['save_task', { project_id: 'winter fair', title: 'Order the flowers', idempotency_key: 'flowers-1' }],
    ],
    async holds(now) {
      expect(now.so[1]).toEqual(now.so[0]);
      expect((await taskCalled(now, 'flowers')).map(({ _id }) => _id)).toEqual([now.so[0].id]);
    },
  },
  {
    says: 'Anna takes over the tent, it is in progress. (Anna Keller, that is.)',
    calls: [
      ['save_task', { task_id: 'Rent a tent', owner_id: 'Anna', status: 'in_progress' }, 'VALIDATION_FAILED'],
      [
        'save_task',
        (several) => ({ task_id: 'Rent a tent', owner_id: offered(several, 'Anna Keller'), status: 'in_progress' }),
      ],
    ],
    async holds(now) {
      expect(await taskCalled(now, 'tent')).toMatchObject([
        { owner_id: now.company.people.annaK.employeeId, status: 'in_progress', estimatedHours: 6 },
      ]);
    },
  },
  {
    says: 'The flowers belong to the studio operations, and Mei and Omar help.',
    calls: [
      ['save_task', { task_id: 'flowers', project_id: 'studio', collaborator_ids: ['Mei', 'omar.haddad@example.com'] }],
    ],
    async holds(now) {
      const [flowers] = await taskCalled(now, 'flowers');
      expect(flowers.projectId).toBe(now.company.projects['Studio operations']);
      expect(flowers.collaborators.map(({ name }: Result) => name).toSorted()).toEqual(['Mei Chen', 'Omar Haddad']);
    },
  },
  {
    says: 'What do people say about the review of the cover?',
    calls: [['get_task', { task_id: 'Review the cover', include: ['comments'] }, ({ comments }) => atCursor(comments)]],
    async holds(now) {
      const shown = now.so.flatMap(({ comments }) => comments.comments.map(({ id }: Result) => id));
      expect(shown).toEqual((await commentsOn(now, 'Review the cover')).map(({ _id }) => _id));
      expect(now.so.length).toBeGreaterThan(1);
    },
  },
  {
    says: 'Who waits for the printer?',
    calls: [['search', { q: 'waiting offer printer', kind: 'comment', project_id: 'Museum audio guide' }]],
    holds({ so, company }) {
      expect(so[0].results.length).toBeGreaterThan(1);
      expect(so[0].results.every(({ excerpt }: Result) => excerpt.text.includes('printer'))).toBe(true);
      expect(
        so[0].results.every(({ project_id }: Result) => project_id === company.projects['Museum audio guide']),
      ).toBe(true);
    },
  },
  {
    says: 'Read me the whole plan of the stage.',
    calls: [['get_task', { task_id: 'Plan the stage' }, atText]],
    holds({ so }) {
      const parts = so.map(({ description }) => description.replace(/ … \[.*\]$/, '').replace(/^… /, ''));
      expect(parts.join('')).toBe(brief);
      expect(so.length).toBeGreaterThan(1);
    },
  },
  {
    says: 'The review of the contact form is done: set it so, and tell its owner.',
    calls: [
      ['save_task', { task_id: 'Review the contact form', status: 'done' }],
      ['people', ({ owner_id }) => ({ employee_id: owner_id })],
      ['comment', ({ id }, { email }) => ({ task_id: id, message: `Done, @${email}.` })],
    ],
    async holds(now) {
      expect(await now.get(`/api/tasks/${now.so[0].id}/`)).toMatchObject({ status: 'done' });
      const comment = (await commentsOn(now, 'Review the contact form')).at(-1);
      expect(comment.mentions).toMatchObject([{ email: now.so[1].email }]);
    },
  },
  {
    says: 'Somebody wants a better picture on the draft of the price list. Answer that I have one.',
    calls: [
      ['get_task', { task_id: 'Draft the price list', include: ['comments'] }],
      [
        'comment',
        ({ id, comments }) => ({
          task_id: id,
          reply_to: comments.comments.find(({ message }: Result) => message.includes('better picture')).id,
          message: 'I have one.',
        }),
      ],
    ],
    async holds(now) {
      const comments = await commentsOn(now, 'Draft the price list');
      const wanted = comments.find(({ message }) => message.includes('better picture'));
      expect(wanted.replies).toMatchObject([{ message: 'I have one.', sender: { name: 'Priya Raman' } }]);
    },
  },
  {
    says: 'I said something silly on the contact form: delete my comment there.',
    calls: [
      ['who_am_i'],
      ['get_task', { task_id: 'Review the contact form', include: ['comments'] }],
      [
        'delete',
        (who, { comments }) => ({
          comment_id: comments.comments.findLast(({ sender }: Result) => sender.id === who.employee.id).id,
        }),
      ],
    ],
    async holds(now) {
      expect(
        (await commentsOn(now, 'Review the contact form')).some(({ message }) => String(message).includes('Done,')),
      ).toBe(false);
    },
  },
  {
    says: 'We need no flowers: delete that task.',
    calls: [
      ['delete', { task_id: 'flowers' }, 'VALIDATION_FAILED'],
      ['list_tasks', { q: 'flowers' }],
      ['delete', (_, { results }) => ({ task_id: results[0].id })],
    ],
    async holds(now) {
      expect(await taskCalled(now, 'flowers')).toEqual([]);
    },
  },
];

const others: Task[] = [
  {
    says: 'Which projects have used more than half of their hours?',
    calls: [['list_projects']],
    async holds(now) {
      const { results } = await now.get(`/api/projects/company/${now.company.people.priya.companyId}/`);
      expect(now.so[0].results.map(({ name, logged_hours }: Result) => [name, logged_hours])).toEqual(
        results.map(({ name, loggedHours }: Result) => [name, loggedHours]),
      );
    },
  },
  {
    says: 'Start the project Summer fair with 120 hours, for Omar.',
    calls: [['save_project', { name: 'Summer fair', allocated_hours: 120, owner_id: 'Omar' }]],
    async holds({ get, so, company }) {
      const project = await get(`/api/projects/${so[0].id}/`);
      expect(project).toMatchObject({
        name: 'Summer fair',
        allocatedHours: 120,
        owner_id: company.people.omar.employeeId,
      });
    },
  },
  {
    says: 'What is the spring catalogue about? And put it on hold.',
    calls: [
      ['list_projects', { project_id: 'spring' }],
      ['save_project', ({ id }) => ({ project_id: id, status: 'on_hold' })],
    ],
    async holds({ get, so, company }) {
      expect(so[0].description).toContain('from the first idea to the last bill');
      expect(await get(`/api/projects/${company.projects['Spring catalogue']}/`)).toMatchObject({ status: 'on_hold' });
    },
  },
  {
    says: 'Forget the summer fair, delete it.',
    calls: [
      ['list_projects', { q: 'summer' }],
      ['delete', ({ results }) => ({ project_id: results[0].id })],
    ],
    async holds({ get, company }) {
      const { results } = await get(`/api/projects/company/${company.people.priya.companyId}/`);
      expect(results.map(({ name }: Result) => name)).not.toContain('Summer fair');
    },
  },
  {
    says: 'Who are our engineers?',
    calls: [['people', { q: 'engineer' }]],
    holds({ so }) {
      expect(so[0].employees.map(({ name }: Result) => name).toSorted()).toEqual(['Jonas Lind', 'Mei Chen']);
    },
  },
  {
    says: 'Is anything waiting for me?',
    calls: [['notifications', { read: false, category: 'need_attention' }]],
    async holds({ get, so, company }) {
      const path = `/notifications/recipient/${company.people.priya.employeeId}/?read=false&category=need_attention`;
      expect(so[0].total).toBe((await get(path)).total);
      expect(so[0].results.length).toBeGreaterThan(0);
    },
  },
  {
    says: 'I have seen what Mei handed in.',
    calls: [
      ['notifications', { read: false, category: 'need_attention' }],
      [
        'mark_notifications',
        ({ results }) => ({
          action: 'read',
          notification_id: results.find(({ title }: Result) => title.includes('Mei Chen')).id,
        }),
      ],
    ],
    async holds({ get, company }) {
      const path = `/notifications/recipient/${company.people.priya.employeeId}/?category=need_attention&read=true`;
      expect((await get(path)).results).toMatchObject([{ title: 'Time of Mei Chen waits for approval' }]);
    },
  },
  {
    says: 'Mark everything as read.',
    calls: [['mark_notifications', { action: 'read_all' }]],
    async holds({ get, company }) {
      expect(await get(`/notifications/unread-count/${company.people.priya.employeeId}/`)).toEqual({ unread: 0 });
    },
  },
  {
    says: 'Log an hour this morning for Anna Berg.',
    as: 'tom',
    calls: [
      ['who_am_i'],
      [
        'log_time',
        (who) => ({
          task_id: 'Rent a tent',
          employee_id: 'anna.berg@example.com',
          start_time: at(who, 0, '07:00'),
          end_time: at(who, 0, '08:00'),
        }),
        'FORBIDDEN',
      ],
    ],
    async holds(now) {
      expect(await logsOf(now, 'Rent a tent')).toEqual([]);
    },
  },
  {
    says: 'Log an hour on the tent this morning.',
    as: 'reader',
    calls: [
      ['who_am_i'],
      [
        'log_time',
        (who) => ({ task_id: 'Rent a tent', start_time: at(who, 0, '07:00'), end_time: at(who, 0, '08:00') }),
        'SCOPE_REQUIRED',
      ],
    ],
    async holds(now) {
      expect(last(now.so).error.missing_scopes).toContain('time:write');
      expect(await logsOf(now, 'Rent a tent')).toEqual([]);
    },
  },
];

export const fiftyTasks: readonly Task[] = [...time, ...periods, ...timers, ...tasks, ...others];
