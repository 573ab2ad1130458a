import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { client, getMe } from '../client.ts';
import { FormDialog } from '../dialog.tsx';
import { described, Field, TextField, typedYears } from '../field.tsx';
import type { Keys } from '../keys.ts';
import { issuesOf } from '../use-form.ts';
import { activeEmployees, projects, putProject } from '../workspace.ts';

const blamed = {
  title: ['task-title', 'The title'],
  name: ['task-project-name', 'The name'],
  projectId: ['task-project', 'The project'],
  owner_id: ['task-owner', 'The owner'],
  dueDate: ['task-due', 'The day'],
} as const;

type NewTaskProps = { projectId: number | null; onClose(): void };

/** A dialog for a new task, in a project that there is or in a new one. */
export function NewTask({ projectId, onClose }: NewTaskProps): JSX.Element {
  const [title, setTitle] = useState('');
  const [project, setProject] = useState(String(projectId ?? projects.value?.[0]?._id ?? 'new'));
  const [projectName, setProjectName] = useState('');
  const [owner, setOwner] = useState(getMe()._id);
  const [dueDate, setDueDate] = useState('');

  async function add(keys: Keys): Promise<void> {
    const made =
      project === 'new'
        ? await client.projects.create({ name: projectName }, { idempotencyKey: keys.of(projectName) })
        : null;
    // Where the next call is refused, the project is there already.
    if (made) {
      putProject(made);
      setProject(String(made._id));
    }
    const task = {
      projectId: made?._id ?? Number(project),
      title,
      owner_id: owner,
      dueDate: dueDate === '' ? null : dueDate,
    };
    await client.tasks.create(task, { idempotencyKey: keys.of(task) });
  }

  return (
    <FormDialog
      heading="New task"
      action="Add the task"
      sending="Adding…"
      send={add}
      blame={(error) => issuesOf(error, blamed)}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <TextField
            label="Title"
            name="task-title"
            problem={problems['task-title']}
            required
            maxLength={300}
            value={title}
            onValue={setTitle}
          />
          <Field label="Project" name="task-project" problem={problems['task-project']}>
            <select
              id="task-project"
              {...described({ name: 'task-project', problem: problems['task-project'] })}
              value={project}
              onChange={(event) => setProject(event.currentTarget.value)}
            >
              {projects.value?.map(({ _id, name }) => (
                <option key={_id} value={String(_id)}>
                  {name}
                </option>
              ))}
              <option value="new">A new project…</option>
            </select>
          </Field>
          {project === 'new' && (
            <TextField
              label="Name of the project"
              name="task-project-name"
              problem={problems['task-project-name']}
              required
              maxLength={200}
              value={projectName}
              onValue={setProjectName}
            />
          )}
          <div class="side-by-side">
            <Field label="Owner" name="task-owner" problem={problems['task-owner']}>
              <select
                id="task-owner"
                {...described({ name: 'task-owner', problem: problems['task-owner'] })}
                value={owner}
                onChange={(event) => setOwner(Number(event.currentTarget.value))}
              >
                {activeEmployees.value.map(({ _id, name, invitationStatus }) => (
                  <option key={_id} value={_id}>
                    {name}
                    {invitationStatus === 'pending' && ' (invited)'}
                  </option>
                ))}
              </select>
            </Field>
            <TextField
              label="Due"
              name="task-due"
              problem={problems['task-due']}
              type="date"
              {...typedYears}
              value={dueDate}
              onValue={setDueDate}
            />
          </div>
        </>
      )}
    </FormDialog>
  );
}
