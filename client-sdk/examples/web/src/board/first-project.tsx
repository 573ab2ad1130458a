import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { client } from '../client.ts';
import { TextField } from '../field.tsx';
import { attempt } from '../notices.ts';
import { Problem } from '../parts.tsx';
import { issuesOf, useForm, type Problems } from '../use-form.ts';
import { putProject } from '../workspace.ts';

/** What a company sees that has no project yet. */
export function FirstProject({ companyName }: { companyName: string }): JSX.Element {
  const [name, setName] = useState('');
  const [title, setTitle] = useState('');
  const blame = (error: unknown): Problems => issuesOf(error, { name: ['project-name', 'The name'] });
  const { isSending, problem, problems, onSubmit } = useForm(async (keys) => {
    const project = await client.projects.create({ name }, { idempotencyKey: keys.of(name) });
    putProject(project);
    // The form is gone now, so what becomes of the task is said at the edge of the page.
    const task = { projectId: project._id, title };
    if (title.trim() !== '') await attempt(() => client.tasks.create(task));
  }, blame);
  return (
    <section class="empty card" aria-labelledby="first-heading">
      <svg class="empty-picture" viewBox="0 0 160 96" aria-hidden="true">
        <rect x="6" y="14" width="42" height="74" rx="8" />
        <rect x="59" y="14" width="42" height="74" rx="8" />
        <rect x="112" y="14" width="42" height="74" rx="8" />
        <rect class="lit" x="13" y="24" width="28" height="16" rx="4" />
        <rect class="lit" x="66" y="46" width="28" height="16" rx="4" />
        <path d="M122 34l6 6 12-14" />
      </svg>
      <h2 id="first-heading">Nothing to do at {companyName}, yet</h2>
      <p>Start a project and give it a first task. Everybody of the company sees both.</p>
      <form class="stack" onSubmit={onSubmit}>
        <TextField
          label="Name of the project"
          name="project-name"
          problem={problems['project-name']}
          required
          maxLength={200}
          value={name}
          onValue={setName}
        />
        <TextField
          label="First task"
          name="first-task"
          hint="You can add it later as well."
          maxLength={200}
          value={title}
          onValue={setTitle}
        />
        <Problem text={problem} />
        <button type="submit" class="button primary wide" aria-disabled={isSending}>
          {isSending ? 'Starting…' : 'Start the project'}
        </button>
      </form>
    </section>
  );
}
