import type { ComponentChildren, JSX } from 'preact';
import type { Task } from 'work-management-client';
import { client, getCompanyId } from '../client.ts';
import { described, Field } from '../field.tsx';
import { Problem } from '../parts.tsx';
import { useLoad } from '../use-load.ts';
import { projects } from '../workspace.ts';
import type { EntryTask } from './entry-times.ts';

/** The newest tasks of a project that are offered. */
const offeredMax = 300;

type TaskPickerProps = {
  picked: { projectId: number | null; taskId: number | null };
  /** A task whose title is known, which may be older than those that are offered. */
  known: EntryTask | undefined;
  name: string;
  problem: ComponentChildren;
  onPick(picked: TaskPickerProps['picked']): void;
};

/** A project, and one of its tasks. */
export function TaskPicker({ picked, known, name, problem, onPick }: TaskPickerProps): JSX.Element {
  const projectId = picked.projectId ?? projects.value?.[0]?._id ?? null;
  const {
    value,
    problem: trouble,
    reload,
  } = useLoad(
    async (signal) => ({ projectId, tasks: projectId === null ? [] : await newestTasks(projectId, signal) }),
    [projectId],
  );
  const isRead = value?.projectId === projectId;
  const read: readonly EntryTask[] = isRead ? value.tasks : [];
  const isMissing = known?.projectId === projectId && read.every(({ _id }) => _id !== known._id);
  const tasks = isMissing ? [known, ...read] : read;
  return (
    <div class="side-by-side">
      <Field label="Project" name="entry-project">
        <select
          id="entry-project"
          required
          value={projectId ?? ''}
          onChange={({ currentTarget }) => onPick({ projectId: Number(currentTarget.value), taskId: null })}
        >
          {projects.value?.map((project) => (
            <option key={project._id} value={project._id}>
              {project.name}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Task" name={name} problem={problem}>
        <select
          id={name}
          {...described({ name, problem })}
          required
          value={picked.taskId ?? ''}
          onChange={({ currentTarget }) => onPick({ projectId, taskId: Number(currentTarget.value) })}
        >
          <option value="" disabled>
            {!isRead ? 'Reading the tasks…' : tasks.length === 0 ? 'No task in it' : 'Choose one'}
          </option>
          {tasks.map((task) => (
            <option key={task._id} value={task._id}>
              {task.title}
            </option>
          ))}
        </select>
      </Field>
      <Problem text={isRead ? null : trouble} onRetry={reload} />
    </div>
  );
}

async function newestTasks(projectId: number, signal: AbortSignal): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of client.tasks.list({ company_id: getCompanyId(), projectId }, { signal })) {
    tasks.push(task);
    if (tasks.length === offeredMax) break;
  }
  return tasks;
}
