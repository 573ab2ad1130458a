import type { JSX } from 'preact';
import type { Task, TasksUpdateInput } from 'work-management-client';
import { client } from '../client.ts';
import { FormDialog } from '../dialog.tsx';
import { theirsOf, useDraft } from '../draft.tsx';
import { described, Field, TextField, typedYears } from '../field.tsx';
import { announce } from '../notices.ts';
import { dayInWords } from '../time.ts';
import { issuesOf } from '../use-form.ts';
import { activeEmployees, nameOf } from '../workspace.ts';
import { Collaborators } from './collaborators.tsx';

const valuesOf = (task: Task) => ({
  title: task.title,
  description: task.description ?? '',
  owner_id: task.owner_id,
  collaboratorIds: task.collaborators.map(({ _id }) => _id).toSorted((a, b) => a - b),
  dueDate: task.dueDate ?? '',
  estimatedHours: String(task.estimatedHours ?? ''),
});
type Values = ReturnType<typeof valuesOf>;

const names: Record<keyof Values, string> = {
  title: 'task-title',
  description: 'task-description',
  owner_id: 'task-owner',
  collaboratorIds: 'task-collaborators',
  dueDate: 'task-due',
  estimatedHours: 'task-estimate',
};

const blamed = {
  title: [names.title, 'The title'],
  description: [names.description, 'The description'],
  owner_id: [names.owner_id, 'The owner'],
  collaboratorIds: [names.collaboratorIds, 'They'],
  dueDate: [names.dueDate, 'The day'],
  estimatedHours: [names.estimatedHours, 'The estimate'],
} as const;

function inWords(value: unknown, field: string): string {
  if (field === 'owner_id') return nameOf(Number(value));
  if (Array.isArray(value)) return value.map((one) => nameOf(Number(one))).join(', ') || 'nobody';
  if (value === '') return 'nothing';
  return field === 'dueDate' ? dayInWords(String(value), { dateStyle: 'long' }) : String(value);
}

/** The fields to send; an empty one is none. */
function inputOf({
  description,
  dueDate,
  estimatedHours,
  ...others
}: Partial<Values>): Omit<TasksUpdateInput, 'task_id'> {
  return {
    ...others,
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(dueDate !== undefined && { dueDate: dueDate === '' ? null : dueDate }),
    ...(estimatedHours !== undefined && { estimatedHours: estimatedHours === '' ? null : Number(estimatedHours) }),
  };
}

type EditTaskProps = { task: Task; mayHandOver: boolean; onSaved(task: Task): void; onClose(): void };

/** Changes what a task is and who does it. */
export function EditTask({ task, mayHandOver, onSaved, onClose }: EditTaskProps): JSX.Element {
  const { draft, edit, changes } = useDraft(valuesOf(task));

  async function save(): Promise<void> {
    const changed = changes(valuesOf(await client.tasks.get({ task_id: task._id })));
    onSaved(await client.tasks.update({ ...inputOf(changed), task_id: task._id }));
    announce('Saved');
  }

  return (
    <FormDialog
      heading="Edit the task"
      action="Save"
      sending="Saving…"
      send={save}
      blame={(error) => ({ ...theirsOf(error, names, inWords), ...issuesOf(error, blamed) })}
      onClose={onClose}
    >
      {(problems) => {
        const about = { name: names.description, problem: problems[names.description] };
        const owner = {
          name: names.owner_id,
          hint: mayHandOver ? undefined : 'Its owner, the owner of the project, team leaders and admins hand it over.',
          problem: problems[names.owner_id],
        };
        return (
          <>
            <TextField
              label="Title"
              name={names.title}
              problem={problems[names.title]}
              required
              maxLength={300}
              value={draft.title}
              onValue={(title) => edit({ title })}
            />
            <Field label="Description" {...about}>
              <textarea
                id={about.name}
                {...described(about)}
                rows={4}
                maxLength={20_000}
                value={draft.description}
                onInput={(event) => edit({ description: event.currentTarget.value })}
              />
            </Field>
            <div class="side-by-side">
              <TextField
                label="Due"
                name={names.dueDate}
                problem={problems[names.dueDate]}
                type="date"
                {...typedYears}
                value={draft.dueDate}
                onValue={(dueDate) => edit({ dueDate })}
              />
              <TextField
                label="Estimate in hours"
                name={names.estimatedHours}
                problem={problems[names.estimatedHours]}
                type="number"
                min="0"
                step="any"
                value={draft.estimatedHours}
                onValue={(estimatedHours) => edit({ estimatedHours })}
              />
            </div>
            <Field label="Owner" {...owner}>
              <select
                id={owner.name}
                {...described(owner)}
                disabled={!mayHandOver}
                value={draft.owner_id}
                onChange={(event) => edit({ owner_id: Number(event.currentTarget.value) })}
              >
                {ownersFor(draft.owner_id).map((employeeId) => (
                  <option key={employeeId} value={employeeId}>
                    {nameOf(employeeId)}
                  </option>
                ))}
              </select>
            </Field>
            <Collaborators
              name={names.collaboratorIds}
              ids={draft.collaboratorIds}
              problem={problems[names.collaboratorIds]}
              onChange={(collaboratorIds) => edit({ collaboratorIds })}
            />
          </>
        );
      }}
    </FormDialog>
  );
}

/** Who can own a task: those who are active, and the one who owns it now. */
function ownersFor(ownerId: number): number[] {
  const ids = activeEmployees.value.map(({ _id }) => _id);
  return ids.includes(ownerId) ? ids : [ownerId, ...ids];
}
