import { computed, effect, signal } from '@preact/signals';
import { isApiError, type EventOf, type Timer } from 'work-management-client';
import { client, getMe, me, session } from '../client.ts';
import { followLive } from '../live.ts';
import { write } from '../network.ts';
import { announce, attempt, failure } from '../notices.ts';
import { duration, now } from '../time.ts';

/* One's own running timer, wherever it is started and stopped. */

export const timer = signal<Timer | null>(null);
export const timedTitle = signal('');
/** Counts the changes of one's own time, by the timer and by hand, for what shows it. */
export const logged = signal(0);

export const elapsedSeconds = computed(() =>
  timer.value ? Math.max(0, (now.value - Date.parse(timer.value.startTime)) / 1000) : 0,
);

const sessionKey = computed(() => (me.value ? (session.value?.id ?? null) : null));
let leaving = new AbortController();
effect(() => {
  leaving.abort();
  leaving = new AbortController();
  timer.value = null;
  if (sessionKey.value !== null) follow(leaving.signal);
});

function follow(leave: AbortSignal): void {
  followLive<EventOf<'timers.onMine'>>({
    streams: [(options) => client.timers.onMine({}, options)],
    leave,
    read: loadTimer,
    take(event) {
      if (event.type === 'timer.started') void attempt(async () => take(event.timer));
      if (event.type === 'timer.stopped' && isShown(event.timer)) end();
    },
    failed: (problem) => void (failure.value = problem),
  });
}

async function loadTimer(): Promise<void> {
  const answer = await client.timers.get({ employee_id: getMe()._id });
  if (!('timer' in answer)) await take(answer);
  else if (timer.value) end();
}

/** The timer has stopped, and its time was logged. */
function end(): void {
  timer.value = null;
  logged.value += 1;
}

/** Shows a timer at once, and the title of its task as soon as that is read. */
async function take(running: Timer): Promise<void> {
  if (isShown(running)) return;
  timedTitle.value = 'A task';
  timer.value = running;
  const { title } = await client.tasks.get({ task_id: running.taskId }).catch((error: unknown) => {
    // A timer goes on when its task is deleted.
    if (isApiError(error, 'NOT_FOUND')) return { title: 'A deleted task' };
    throw error;
  });
  if (isShown(running)) timedTitle.value = title;
}

const isShown = ({ startTime }: Timer): boolean => timer.value?.startTime === startTime;

let isPending = false;

/** Ignores further clicks until the first is answered. */
async function once(run: () => Promise<void>): Promise<void> {
  if (isPending) return;
  isPending = true;
  try {
    await run();
  } finally {
    isPending = false;
  }
}

export const startTimer = async (task: TimedTask): Promise<void> => once(async () => start(task));
export const stopTimer = async (): Promise<void> => once(stop);

type TimedTask = { _id: number; title: string };

async function start(task: TimedTask): Promise<void> {
  try {
    const started = await write(() => client.timers.start({ taskId: task._id }));
    timedTitle.value = task.title;
    timer.value = started;
    announce(`The timer runs on ${task.title}.`);
  } catch (error) {
    // Started elsewhere: show that one.
    if (isApiError(error, 'TIMER_RUNNING')) await loadTimer();
    throw error;
  }
}

async function stop(): Promise<void> {
  try {
    const log = await write(() => client.timers.stop());
    announce(`The timer stopped after ${duration(log.durationSeconds)}.`);
  } catch (error) {
    if (!isApiError(error, 'TIMER_NOT_RUNNING')) throw error;
  }
  if (timer.value) end();
}
