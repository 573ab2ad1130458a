import type { JSX } from 'preact';
import { Icon } from '../icon.tsx';
import { attempt } from '../notices.ts';
import { taskHref } from '../route.ts';
import { clockOf } from '../time.ts';
import { elapsedSeconds, startTimer, stopTimer, timedTitle, timer } from './timer.ts';

/** The running timer, on every view. */
export function TimerPill(): JSX.Element | null {
  if (!timer.value) return null;
  return (
    <section class="timer-pill" aria-label="Running timer">
      <span class="pulse" aria-hidden="true" />
      <a href={taskHref(timer.value.taskId)}>{timedTitle.value}</a>
      <span class="timer-clock" role="timer">
        {clockOf(elapsedSeconds.value)}
      </span>
      <button
        type="button"
        class="icon-button small stop"
        aria-label="Stop the timer"
        onClick={() => void attempt(stopTimer)}
      >
        <Icon name="stop" filled />
      </button>
    </section>
  );
}

/** Starts the timer on a task, or stops it where it runs on this one. */
export function TimerButton({
  task,
  small = false,
}: {
  task: { _id: number; title: string };
  small?: boolean;
}): JSX.Element {
  const runsHere = timer.value?.taskId === task._id;
  // The second click of a double click would stop what the first has started.
  const run = ({ detail }: MouseEvent): void =>
    void (detail < 2 && attempt(async () => (runsHere ? stopTimer() : startTimer(task))));
  const words = runsHere ? 'Stop timer' : 'Start timer';
  const icon = <Icon name={runsHere ? 'stop' : 'play'} filled />;
  return small ? (
    <button
      type="button"
      class={`icon-button small ${runsHere ? 'stop' : ''}`}
      aria-label={`${words} on ${task.title}`}
      title={words}
      onClick={run}
    >
      {icon}
    </button>
  ) : (
    <button type="button" class={`button ${runsHere ? 'danger' : 'primary'}`} onClick={run}>
      {icon}
      {words}
      {runsHere && <span class="timer-clock">{clockOf(elapsedSeconds.value)}</span>}
    </button>
  );
}
