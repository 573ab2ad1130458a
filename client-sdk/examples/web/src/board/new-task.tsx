import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { client, getMe } from '../client.ts';
import { Icon } from '../icon.tsx';
import { Field, Problem } from '../parts.tsx';
import { useForm } from '../use-form.ts';
import { activeEmployees, projects, putProject } from '../workspace.ts';

type NewTaskProps = { projectId: number | null; onClose(): void };

/** A dialog for a new task, in a project that there is or in a new one. */
export function NewTask({ projectId, onClose }: NewTaskProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [title, setTitle] = useState('');
  const [project, setProject] = useState(String(projectId ?? projects.value?.[0]?._id ?? 'new'));
  const [projectName, setProjectName] = useState('');
  const [owner, setOwner] = useState(getMe()._id);
  const [dueDate, setDueDate] = useState('');
  const { isSending, problem, onSubmit } = useForm(async () => {
    const made = project === 'new' ? await client.projects.create({ name: projectName }) : null;
    // Where the next call is refused, the project is there already.
    if (made) {
      putProject(made);
      setProject(String(made._id));
    }
    await client.tasks.create({
      projectId: made?._id ?? Number(project),
      title,
      owner_id: owner,
      dueDate: dueDate === '' ? null : dueDate,
    });
    dialog.current?.close();
  });
  // The dialog gives the focus back to where it was, as long as it is closed before it goes.
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector('input')?.focus();
  }, []);

  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="new-task-heading" onClose={onClose}>
      <form class="stack" onSubmit={onSubmit}>
        <header>
          <h2 id="new-task-heading">New task</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        <Field label="Title" name="task-title">
          <input
            id="task-title"
            required
            maxLength={200}
            value={title}
            onInput={(event) => setTitle(event.currentTarget.value)}
          />
        </Field>
        <Field label="Project" name="task-project">
          <select id="task-project" value={project} onChange={(event) => setProject(event.currentTarget.value)}>
            {projects.value?.map(({ _id, name }) => (
              <option key={_id} value={String(_id)}>
                {name}
              </option>
            ))}
            <option value="new">A new project…</option>
          </select>
        </Field>
        {project === 'new' && (
          <Field label="Name of the project" name="task-project-name">
            <input
              id="task-project-name"
              required
              maxLength={200}
              value={projectName}
              onInput={(event) => setProjectName(event.currentTarget.value)}
            />
          </Field>
        )}
        <div class="side-by-side">
          <Field label="Owner" name="task-owner">
            <select id="task-owner" value={owner} onChange={(event) => setOwner(Number(event.currentTarget.value))}>
              {activeEmployees.value.map(({ _id, name, invitationStatus }) => (
                <option key={_id} value={_id}>
                  {name}
                  {invitationStatus === 'pending' && ' (invited)'}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Due" name="task-due">
            <input
              id="task-due"
              type="date"
              value={dueDate}
              onInput={(event) => setDueDate(event.currentTarget.value)}
            />
          </Field>
        </div>
        <Problem text={problem} />
        <button type="submit" class="button primary wide" aria-disabled={isSending}>
          {isSending ? 'Adding…' : 'Add the task'}
        </button>
      </form>
    </dialog>
  );
}
