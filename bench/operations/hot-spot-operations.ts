import type { World } from '../support/world.ts';
import { pick, type Operation } from './operations.ts';

/** The same calls in one place, and spread over many. */
type HotSpot = { title: string; hot: Operation; spread: Operation };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const write = (title: string, call: (world: World) => { path: string; body?: object }): Operation => ({
  title,
  method: 'POST',
  kind: 'mutation',
  procedure: '',
  call: (world) => ({ ...call(world), input: undefined }),
  holds: () => '',
});

/** What a caller has liked last: the next call takes it back. */
const liked = new Set<string>();

function like(employeeId: number, commentId: number) {
  const key = `${employeeId} ${commentId}`;
  const isLiked = liked.delete(key);
  if (!isLiked) liked.add(key);
  return { path: `/api/${isLiked ? 'dislike' : 'like'}-chat/${employeeId}/${commentId}/` };
}

function log({ employeeId, taskId, startMs }: { employeeId: number; taskId: number; startMs: number }) {
  const [start_time, end_time] = [new Date(startMs), new Date(startMs + hourMs / 4)];
  const body = { task_id: taskId, employee_id: employeeId, start_time, end_time, description: 'Cut the gears' };
  return { path: '/tasklog/create/', body };
}

/** Among so many days that none gets long: a new log recomputes its person's day. */
const anyTime = (days: number): number => Date.now() - dayMs - Math.floor(Math.random() * days * dayMs);
/** Within one day of UTC, the time zone of the companies. */
const thatDay = (): number =>
  Math.floor(Date.now() / dayMs) * dayMs - 20 * dayMs + Math.floor(Math.random() * 23 * hourMs);
/** Any of so many people that the day of one of them stays short. */
const anybody = ({ employees }: World): number =>
  pick({ first: employees.first, count: Math.min(20_000, employees.count) });
/** Tasks go round the projects. */
const taskOfFirstProject = ({ tasks, projects }: World): number =>
  tasks.first + projects.count * Math.floor(Math.random() * Math.floor(tasks.count / projects.count));

/** One of the first 64 projects, and a task of it. */
const projectOfMany = ({ projects }: World): number =>
  pick({ first: projects.first, count: Math.min(64, projects.count) });
const taskOfMany = ({ tasks, projects }: World): number =>
  tasks.first + Math.floor(Math.random() * Math.min(64, projects.count));

const addTask = (projectId: number) => ({ path: '/api/tasks/', body: { projectId, title: 'Cut the gears' } });

const days = 3_000;

/** Of what each caller has of their own: a log, a comment or a task. */
const ownWrites = ({ employeeId, tasks, projects }: World) => {
  const taskId = tasks.first;
  const kind = Math.floor(Math.random() * 3);
  if (kind === 0) return log({ employeeId, taskId, startMs: anyTime(days) });
  if (kind === 1) return { path: '/api/task-chats/', body: { taskId, sender: employeeId, message: 'It turns.' } };
  return addTask(projects.first);
};

export const hotSpots: Record<string, HotSpot> = {
  likes: {
    title: 'likes of one comment, of many on as many tasks',
    hot: write('one', ({ employeeId, comments }) => like(employeeId, comments.first)),
    spread: write('many', ({ employeeId, employees, comments }) =>
      // There are fifty on each task.
      like(employeeId, comments.first + 50 * (employeeId - employees.first)),
    ),
  },
  'logs-of-person': {
    title: 'logs of one person in one project, of many in many',
    hot: write('one', (world) =>
      log({ employeeId: world.employees.first + 1, taskId: taskOfFirstProject(world), startMs: anyTime(days) }),
    ),
    spread: write('many', (world) =>
      log({ employeeId: anybody(world), taskId: pick(world.tasks), startMs: anyTime(days) }),
    ),
  },
  'logs-of-day': {
    title: 'logs of a company on one day, on many',
    hot: write('one', (world) => log({ employeeId: anybody(world), taskId: pick(world.tasks), startMs: thatDay() })),
    spread: write('many', (world) =>
      log({ employeeId: anybody(world), taskId: pick(world.tasks), startMs: anyTime(days) }),
    ),
  },
  'logs-of-project': {
    title: 'logs of many people in one project, in 64',
    hot: write('one', (world) =>
      log({ employeeId: anybody(world), taskId: taskOfFirstProject(world), startMs: anyTime(days) }),
    ),
    spread: write('many', (world) =>
      log({ employeeId: anybody(world), taskId: taskOfMany(world), startMs: anyTime(days) }),
    ),
  },
  'tasks-of-project': {
    title: 'new tasks in one project, in 64',
    hot: write('one', ({ projects }) => addTask(projects.first)),
    spread: write('many', (world) => addTask(projectOfMany(world))),
  },
  companies: {
    title: 'logs, comments and tasks of 64 people of one company, of 64',
    hot: write('one', ownWrites),
    spread: write('many', ownWrites),
  },
};

export function findHotSpotOperation(name: string): Operation | undefined {
  const [spot, place] = name.split('/');
  const { [spot!]: found } = hotSpots;
  return found?.[place as 'hot' | 'spread'];
}
