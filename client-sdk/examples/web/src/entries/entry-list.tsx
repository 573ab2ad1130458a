import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isApiError, type TaskLog } from 'work-management-client';
import { client } from '../client.ts';
import { Confirm } from '../confirm.tsx';
import { Icon } from '../icon.tsx';
import { announce } from '../notices.ts';
import { logged } from '../shell/timer.ts';
import { dayInWords, duration } from '../time.ts';
import { timezone } from '../workspace.ts';
import { EntryDialog } from './entry-dialog.tsx';
import { lockedDays, type EntryTask } from './entry-times.ts';
import { wallTimeOf } from './wall-time.ts';

export type Entry = { log: TaskLog; task: EntryTask };

const shownMax = 5;

/** One's own entries, each of which can be changed and deleted. */
export function EntryList({
  entries,
  withTask = false,
  onDeleted,
}: {
  entries: readonly Entry[];
  /** Whether each says which task it is on. */
  withTask?: boolean;
  /** The focus was in an entry that is gone. */
  onDeleted(): void;
}): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const [edited, setEdited] = useState<Entry | null>(null);
  const [toDelete, setToDelete] = useState<Entry | null>(null);
  const shown = isWhole ? entries : entries.slice(0, shownMax);
  return (
    <>
      <ul class="entries">
        {shown.map((entry) => (
          <EntryRow
            key={entry.log._id}
            entry={entry}
            withTask={withTask}
            onEdit={() => setEdited(entry)}
            onDelete={() => setToDelete(entry)}
          />
        ))}
      </ul>
      {shown.length < entries.length && (
        <button type="button" class="button ghost small" onClick={() => setWhole(true)}>
          Show all {entries.length}
        </button>
      )}
      {edited && <EntryDialog log={edited.log} task={edited.task} onClose={() => setEdited(null)} />}
      {toDelete && (
        <Confirm
          question="Delete this time?"
          action="Delete"
          send={async () => deleteEntry(toDelete)}
          onClose={(isSent) => {
            setToDelete(null);
            if (isSent) onDeleted();
          }}
        >
          {inWords(toDelete)} on <strong>{toDelete.task.title}</strong>. It leaves all totals.
        </Confirm>
      )}
    </>
  );
}

async function deleteEntry({ log: { _id: pk } }: Entry): Promise<void> {
  try {
    await client.taskLogs.delete({ pk });
  } catch (error) {
    // Deleted in another window: it goes here too.
    if (isApiError(error, 'NOT_FOUND')) return void (logged.value += 1);
    const locked = lockedDays(error);
    if (locked === null) throw error;
    throw new Error(`${locked} is locked: the time was handed in, or is too old. Withdraw it, or ask an admin.`, {
      cause: error,
    });
  }
  logged.value += 1;
  announce('The time is deleted.');
}

/** `Mon 16 Nov, 1 h 30 min` */
const inWords = ({ log: { startTime, durationSeconds } }: Entry): string =>
  `${dayInWords(wallTimeOf(startTime, timezone.value).day, { weekday: 'short', day: 'numeric', month: 'short' })}, ${duration(durationSeconds)}`;

type EntryRowProps = { entry: Entry; withTask: boolean; onEdit(): void; onDelete(): void };

function EntryRow({ entry, withTask, onEdit, onDelete }: EntryRowProps): JSX.Element {
  const { log, task } = entry;
  const words = inWords(entry);
  const time = (moment: string): string => wallTimeOf(moment, timezone.value).time;
  return (
    <li>
      <div>
        <p>{words}</p>
        <p class="quiet">
          {time(log.startTime)}–{time(log.endTime)}
          {withTask && <> on {task.title}</>}
          {log.description !== null && log.description !== '' && <span class="entry-words">{log.description}</span>}
        </p>
      </div>
      <button type="button" class="icon-button small" aria-label={`Edit ${words}`} onClick={onEdit}>
        <Icon name="pencil" />
      </button>
      <button type="button" class="icon-button small" aria-label={`Delete ${words}`} onClick={onDelete}>
        <Icon name="trash" />
      </button>
    </li>
  );
}
