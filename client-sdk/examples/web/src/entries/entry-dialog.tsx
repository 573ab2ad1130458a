import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { TaskLog, TaskLogsUpdateInput } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { FormDialog } from '../dialog.tsx';
import { useDraft } from '../draft.tsx';
import { described, Field, TextField, typedYears } from '../field.tsx';
import type { Keys } from '../keys.ts';
import { announce } from '../notices.ts';
import { logged } from '../shell/timer.ts';
import { addDays, dayIn, duration } from '../time.ts';
import { timezone } from '../workspace.ts';
import { endsNextDay, newValues, timesOf, valuesOf, type EntryTask, type EntryValues } from './entry-times.ts';
import { DurationField } from './duration-field.tsx';
import { blame, names } from './entry-problems.tsx';
import { TaskPicker } from './task-picker.tsx';
import { addMinutes, minutesBetween, parseDuration, typedDuration } from './wall-time.ts';

type EntryDialogProps = {
  /** What is changed; a new entry is made without it. */
  log?: TaskLog;
  task?: EntryTask | undefined;
  day?: string;
  onClose(isSent: boolean): void;
};

/** Time that was worked, by hand: when, on which task, and what it was. It begins again when the time zone becomes known. */
export function EntryDialog(props: EntryDialogProps): JSX.Element {
  return <EntryForm key={timezone.value} {...props} zone={timezone.value} />;
}

function EntryForm({ log, task: preset, day, zone, onClose }: EntryDialogProps & { zone: string }): JSX.Element {
  const { draft, edit, changes } = useDraft(log ? valuesOf(log, zone) : newValues(day, preset, zone));
  const [length, setLength] = useState(typedDuration(minutesBetween(draft.start, draft.end)));
  // The duration follows both times, unless it says the same in other words.
  useLayoutEffect(() => {
    if (draft.start === '' || draft.end === '') return;
    const minutes = minutesBetween(draft.start, draft.end);
    setLength((text) => (parseDuration(text) === minutes ? text : typedDuration(minutes)));
  }, [draft.start, draft.end]);

  async function save(keys: Keys): Promise<void> {
    if (log) await update(log);
    else {
      const { startTime: start_time, endTime: end_time } = timesOf(draft, zone);
      const entry = {
        task_id: draft.taskId!,
        employee_id: getMe()._id,
        start_time,
        end_time,
        description: draft.description === '' ? null : draft.description,
      };
      await client.taskLogs.create(entry, { idempotencyKey: keys.of(entry) });
      announce('The time is added.');
    }
    logged.value += 1;
  }

  /** Sends what was changed: a time that nobody touched keeps its seconds. */
  async function update(before: TaskLog): Promise<void> {
    const { taskLogs } = await client.taskLogs.listByTask({ taskId: before.taskId });
    const stored = valuesOf(taskLogs.find(({ _id }) => _id === before._id) ?? before, zone);
    const changed = changes(stored);
    const times = timesOf({ ...stored, ...changed }, zone);
    const hasDay = changed.day !== undefined;
    const isTurned = endsNextDay(stored) !== endsNextDay({ ...stored, ...changed });
    const input: TaskLogsUpdateInput = { taskLogId: before._id };
    if (typeof changed.taskId === 'number') input.taskId = changed.taskId;
    if (changed.description !== undefined) input.description = changed.description === '' ? null : changed.description;
    if (hasDay || changed.start !== undefined) input.startTime = times.startTime;
    if (hasDay || changed.end !== undefined || isTurned) input.endTime = times.endTime;
    await client.taskLogs.update(input);
    announce('Saved');
  }

  return (
    <FormDialog
      heading={log ? 'Edit the time' : 'Add time'}
      action={log ? 'Save' : 'Add the time'}
      sending="Saving…"
      send={save}
      blame={blame}
      onClose={onClose}
    >
      {(problems) => {
        const more = { name: names.description, problem: problems[names.description] };
        return (
          <>
            <TaskPicker
              picked={draft}
              known={preset}
              name={names.taskId}
              problem={problems[names.taskId]}
              onPick={edit}
            />
            <TextField
              label="Day"
              name={names.day}
              problem={problems[names.day]}
              type="date"
              required
              {...typedYears}
              max={addDays(dayIn(zone), 1)}
              value={draft.day}
              onValue={(value) => edit({ day: value })}
            />
            <div class="entry-times">
              <TextField
                label="Start"
                name={names.start}
                problem={problems[names.start]}
                type="time"
                required
                value={draft.start}
                onValue={(value) => edit({ start: value })}
              />
              <TextField
                label="End"
                name={names.end}
                problem={problems[names.end]}
                type="time"
                required
                value={draft.end}
                onValue={(value) => edit({ end: value })}
              />
              <DurationField
                value={length}
                onValue={(text, minutes) => {
                  setLength(text);
                  if (minutes !== null)
                    edit(({ start, end }) => ({ end: start === '' ? end : addMinutes(start, minutes) }));
                }}
              />
            </div>
            <p class="hint">{summary(draft, zone)}</p>
            <Field label="What it was" {...more}>
              <textarea
                id={more.name}
                {...described(more)}
                rows={2}
                maxLength={10_000}
                value={draft.description}
                onInput={(event) => edit({ description: event.currentTarget.value })}
              />
            </Field>
          </>
        );
      }}
    </FormDialog>
  );
}

function summary(values: EntryValues, zone: string): string {
  const isElsewhere = zone !== Intl.DateTimeFormat().resolvedOptions().timeZone;
  const length =
    values.start === '' || values.end === '' ? '' : duration(60 * minutesBetween(values.start, values.end));
  return `${length}${endsNextDay(values) ? ', until the next day' : ''}${isElsewhere ? `, by the clocks of ${zone}` : ''}`;
}
