import { isApiError } from 'work-management-client';
import { theirsOf } from '../draft.tsx';
import { weekHref } from '../route.ts';
import { issuesOf, type FieldNames, type Problems } from '../use-form.ts';
import { lockedDays } from './entry-times.ts';

/** The names of the fields of an entry. */
export const names = {
  projectId: 'entry-task',
  taskId: 'entry-task',
  day: 'entry-day',
  start: 'entry-start',
  end: 'entry-end',
  description: 'entry-description',
};
const start = [names.start, 'The start'] as const;
const end = [names.end, 'The end'] as const;
const task = [names.taskId, 'The task'] as const;
const fields: FieldNames = {
  start_time: start,
  startTime: start,
  end_time: end,
  endTime: end,
  task_id: task,
  taskId: task,
  description: [names.description, 'The description'],
};

function inWords(value: unknown, field: string): string {
  if (field === 'taskId' || field === 'projectId') return 'another task';
  return value === '' ? 'nothing' : String(value);
}

/** What is wrong with an entry, beside the field that it is about. */
export function blame(error: unknown): Problems {
  const locked = lockedDays(error);
  if (locked !== null) {
    return {
      [names.day]: (
        <>
          {locked} is locked: the time was handed in, or is too old. Withdraw it in <a href={weekHref()}>your week</a>,
          or ask an admin to open it.
        </>
      ),
    };
  }
  if (isApiError(error, 'DUPLICATE_TASK_LOG'))
    return { [names.start]: 'You have time on this task that begins at this very moment: change that instead.' };
  return { ...theirsOf(error, names, inWords), ...issuesOf(error, fields) };
}
