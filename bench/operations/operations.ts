import { createHash } from 'node:crypto';
import type { World } from '../support/world.ts';

/** One call of an operation: as REST it is the path and the body, over tRPC it is the input. */
type Call = { path: string; body?: unknown; input: unknown };

export type Operation = {
  title: string;
  method: 'GET' | 'POST';
  kind: 'query' | 'mutation';
  /** Fewer connections than usual for long operations: more would only wait, and time out in the end. */
  callsAtOnce?: number;
  /** Whether only the first of those who call asks for it. */
  isOfFirst?: boolean;
  /** Its name in the router. */
  procedure: string;
  call(world: World): Call;
  /** A summary of an answer that is equal for every side with a correct answer. */
  holds(answer: never): string;
};

const commentsOf = (comments: Comment[]): Comment[] => comments.flatMap((one) => [one, ...commentsOf(one.replies)]);
type Comment = { message: string; sender: { name: string }; likes: { name: string }[]; replies: Comment[] };
type Page = { results: { title: string; actor: { name: string } }[]; total: number };

export const pick = ({ first, count }: World['tasks']): number => first + Math.floor(Math.random() * count);

const dayMs = 24 * 3600 * 1000;
/** No two logs begin in one moment, so none is a duplicate. */
const newStart = (): number => Date.now() - dayMs - Math.floor(Math.random() * 300 * dayMs);
const times = (startMs: number) => [new Date(startMs), new Date(startMs + 25 * 60_000)] as const;
/** The logs of so many people: a day of one of them never has many. */
const loggers = 500;
const logger = ({ employees }: World): number => pick({ first: employees.first, count: loggers });
/** Of a bulk: twenty tasks next to each other, as a person's week is. */
const bulkEntries = 500;

export const operations: Record<string, Operation> = {
  'list-comments': {
    title: 'list 50 comments',
    method: 'GET',
    kind: 'query',
    procedure: 'comments.listByTask',
    // A read by another employee would write that they have seen the comments.
    isOfFirst: true,
    call: ({ talkedOn }) => {
      const task_id = pick(talkedOn);
      return { path: `/api/tasks/chat/${task_id}/`, input: { task_id } };
    },
    holds: ({ comments }: { comments: Comment[] }) => {
      const all = commentsOf(comments);
      const likes = all.flatMap((one) => one.likes).filter(({ name }) => name !== '');
      const written = all.filter(({ message, sender }) => message !== '' && sender.name !== '');
      return `${written.length} comments in ${comments.length} threads with ${likes.length} likes`;
    },
  },
  'create-comment': {
    title: 'create a comment',
    method: 'POST',
    kind: 'mutation',
    procedure: 'comments.create',
    call: (world) => {
      const body = {
        taskId: pick({ first: world.tasks.first + world.talkedOn.count, count: untouched(world) }),
        sender: world.employeeId,
        message: '<p>Ready for <b>review</b>: the mill turns, and the cards are punched as you said.</p>',
      };
      return { path: '/api/task-chats/', body, input: body };
    },
    holds: ({ message, sender, replies }: Comment) => `${message} by ${sender.name}, ${replies.length} replies`,
  },
  'create-log': {
    title: 'create a log',
    method: 'POST',
    kind: 'mutation',
    procedure: 'taskLogs.create',
    call: (world) => {
      const [start_time, end_time] = times(newStart());
      const who = { task_id: pick(world.tasks), employee_id: logger(world) };
      const body = { ...who, start_time, end_time, description: 'Cut the gears' };
      return { path: '/tasklog/create/', body, input: body };
    },
    holds: ({ durationSeconds, description }: { durationSeconds: number; description: string }) =>
      `${durationSeconds} seconds: ${description}`,
  },
  'bulk-logs': {
    title: 'bulk of 500 logs',
    method: 'POST',
    kind: 'mutation',
    callsAtOnce: 8,
    procedure: 'taskLogs.bulkCreate',
    call: (world) => {
      const [userId, base] = [logger(world), newStart()];
      const firstTask = pick({ ...world.tasks, count: world.tasks.count - 20 });
      const entries = Array.from({ length: bulkEntries }, (_, n) => {
        const [startTime, endTime] = times(base - n * 90 * 60_000);
        return {
          taskId: firstTask + (n % 20),
          userId,
          startTime,
          endTime,
          description: 'Cut the gears',
          manualAdd: true,
        };
      });
      return { path: `/tasklogs/bulk/create/${userId}/`, body: entries, input: { user_id: userId, entries } };
    },
    holds: ({ created, skipped, days }: { created: unknown[]; skipped: unknown[]; days: unknown[] }) =>
      `${created.length} created, ${skipped.length} skipped, ${days.length > 30} days`,
  },
  notifications: {
    title: 'page of 20,000 notifications and total',
    method: 'GET',
    kind: 'query',
    procedure: 'notifications.list',
    isOfFirst: true,
    call: ({ employeeId }) => ({
      path: `/notifications/recipient/${employeeId}/`,
      input: { recipient_id: employeeId },
    }),
    holds: ({ results, total }: Page) =>
      `${results.length} of ${total}, the first: ${results[0]!.title} by ${results[0]!.actor.name}`,
  },
  'unread-count': {
    title: 'unread count',
    method: 'GET',
    kind: 'query',
    procedure: 'notifications.countUnread',
    call: ({ employeeId }) => ({ path: `/notifications/unread-count/${employeeId}/`, input: { user_id: employeeId } }),
    holds: ({ unread }: { unread: number }) => `${unread} unread`,
  },
  search: {
    title: 'search employees',
    method: 'GET',
    kind: 'query',
    procedure: 'employees.search',
    call: ({ companyId }) => ({
      path: `/employees/search/${companyId}/?q=grace%20hop`,
      input: { company_id: companyId, q: 'grace hop' },
    }),
    holds: ({ employees }: { employees: { name: string }[] }) => `${employees.length} of ${employees[0]?.name}`,
  },
  me: {
    title: 'employee/me',
    method: 'GET',
    kind: 'query',
    procedure: 'employees.get',
    call: ({ employeeId }) => ({ path: `/employee/me/${employeeId}/`, input: { employee_id: employeeId } }),
    holds: (employee: { name: string; salary: number }) =>
      `${employee.name}, ${employee.salary}, ${Object.keys(employee).length} fields`,
  },
  login: {
    title: 'password login',
    method: 'POST',
    kind: 'mutation',
    callsAtOnce: 8,
    procedure: 'auth.login',
    call: ({ email, password }) => ({ path: '/login/', body: { email, password }, input: { email, password } }),
    holds: ({ access_token, refresh_token, employee }: Record<string, string> & { employee: { name: string } }) =>
      `${access_token!.split('.').length} and ${refresh_token!.split('.').length} parts for ${employee.name}`,
  },
};

const listOf = (what: string, path: (world: World) => string, more?: { isOfFirst: true }): Operation => ({
  ...more,
  title: what,
  method: 'GET',
  kind: 'query',
  procedure: '',
  call: (world) => ({ path: path(world), input: undefined }),
  holds: (answer: object) => Object.keys(answer).join(),
});

/** Measured over REST only: lists and counts in small and large companies, and an answer that costs nothing. */
export const furtherOperations: Record<string, Operation> = {
  'assign-task': {
    title: 'create a task of a colleague',
    method: 'POST',
    kind: 'mutation',
    procedure: 'tasks.create',
    call: ({ projects, employees }) => {
      const body = { projectId: pick(projects), title: 'Cut the gears', owner_id: pick(employees) };
      return { path: '/api/tasks/', body, input: body };
    },
    holds: ({ title }: { title: string }) => title,
  },
  ping: listOf('ping', () => '/ping'),
  'logs-of-task': listOf('100 logs of a task', ({ loggedOn }) => `/taskLogs/task/${pick(loggedOn)}/`),
  inbox: listOf(
    'page of notifications not archived and total',
    ({ employeeId }) => `/notifications/recipient/${employeeId}/?isArchive=false`,
    { isOfFirst: true },
  ),
  'unread-page': listOf(
    'page of the oldest notifications, the only unread ones, and total',
    ({ employeeId }) => `/notifications/recipient/${employeeId}/?read=false`,
    { isOfFirst: true },
  ),
  notices: listOf(
    'page of the five oldest notifications, the only notices, and total',
    ({ employeeId }) => `/notifications/recipient/${employeeId}/?category=notice`,
    { isOfFirst: true },
  ),
  'completed-projects': listOf(
    'page of the five oldest projects, the only completed ones, and total',
    ({ companyId }) => `/api/projects/company/${companyId}/?status=completed`,
  ),
  'owned-tasks': listOf(
    'page of the tasks of one owner and total',
    ({ companyId, employeeId }) => `/api/tasks/company/${companyId}/?owner_id=${employeeId}`,
  ),
  todo: listOf('page of tasks to do and total', ({ companyId }) => `/api/tasks/company/${companyId}/?status=todo`),
  tasks: listOf('page of tasks and total', ({ companyId }) => `/api/tasks/company/${companyId}/`),
  // By the name that nobody else has: more people are not more matches.
  'search-one': listOf('search employees, one match', ({ companyId }) => {
    const local = createHash('md5')
      .update(String(pick({ first: 2, count: 9_000 })))
      .digest('hex')
      .slice(0, 16);
    return `/employees/search/${companyId}/?q=${local}`;
  }),
  projects: listOf('page of projects and total', ({ companyId }) => `/api/projects/company/${companyId}/`),
};

/** Tasks without comments at first, so that what is written does not make lists longer. */
const untouched = ({ tasks, talkedOn }: World): number => tasks.count - talkedOn.count;
