import { computed, effect, signal } from '@preact/signals';
import { isApiError, type Timer } from 'work-management-client';
import { client, getMe, me } from '../client.ts';
import { comebacks, write } from '../network.ts';
import { announce, attempt } from '../notices.ts';
import { duration, now } from '../time.ts';

/* One's own running timer. The service sends no events about it: it is read again whenever the window is looked at. */

export const timer = signal<Timer | null>(null);
export const timedTitle = signal('');
/** Counts the logs that timers made, for what shows logged time. */
export const logged = signal(0);

export const elapsedSeconds = computed(() =>
  timer.value ? Math.max(0, (now.value - Date.parse(timer.value.startTime)) / 1000) : 0,
);

const myId = computed(() => me.value?._id ?? null);
effect(() => {
  void comebacks.value;
  if (myId.value === null) timer.value = null;
  else void attempt(loadTimer);
});
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && myId.value !== null) void attempt(loadTimer);
});

async function loadTimer(): Promise<void> {
  const answer = await client.timers.get({ employee_id: getMe()._id });
  if ('timer' in answer) timer.value = null;
  else await take(answer);
}

async function take(running: Timer): Promise<void> {
  const { title } = await client.tasks.get({ task_id: running.taskId }).catch((error: unknown) => {
    // A timer goes on when its task is deleted.
    if (isApiError(error, 'NOT_FOUND')) return { title: 'A deleted task' };
    throw error;
  });
  timedTitle.value = title;
  timer.value = running;
}

export async function startTimer(task: { _id: number; title: string }): Promise<void> {
  try {
    timedTitle.value = task.title;
    timer.value = await write(() => client.timers.start({ taskId: task._id }));
    announce(`The timer runs on ${task.title}.`);
  } catch (error) {
    // Started elsewhere: show that one.
    if (isApiError(error, 'TIMER_RUNNING')) await loadTimer();
    throw error;
  }
}

export async function stopTimer(): Promise<void> {
  try {
    const log = await write(() => client.timers.stop());
    announce(`The timer stopped after ${duration(log.durationSeconds)}.`);
  } catch (error) {
    if (!isApiError(error, 'TIMER_NOT_RUNNING')) throw error;
  }
  timer.value = null;
  logged.value += 1;
}
