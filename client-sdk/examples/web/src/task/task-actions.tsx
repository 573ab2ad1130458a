import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Task } from 'work-management-client';
import { client } from '../client.ts';
import { Confirm } from '../confirm.tsx';
import { Icon } from '../icon.tsx';
import { announce } from '../notices.ts';
import { boardHref } from '../route.ts';
import { getMyself, projects } from '../workspace.ts';
import { EditTask } from './edit-task.tsx';

/** Edits a task, and deletes it where one may. */
export function TaskActions({ task, onSaved }: { task: Task; onSaved(task: Task): void }): JSX.Element {
  const [isEditing, setEditing] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const mayManage = mayManageTask(task);
  return (
    <div class="row-actions">
      <button type="button" class="button small" onClick={() => setEditing(true)}>
        <Icon name="pencil" />
        Edit
      </button>
      {mayManage && (
        <button type="button" class="button small" onClick={() => setAsked(true)}>
          <Icon name="trash" />
          Delete…
        </button>
      )}
      {isEditing && (
        <EditTask task={task} mayHandOver={mayManage} onSaved={onSaved} onClose={() => setEditing(false)} />
      )}
      {isAsked && (
        <Confirm
          question="Delete this task?"
          action="Delete the task"
          send={async () => {
            await client.tasks.delete({ task_id: task._id });
            announce('The task is deleted.');
            location.replace(boardHref({ projectId: task.projectId, mine: false }));
          }}
          onClose={() => setAsked(false)}
        >
          <strong>{task.title}</strong> and its comments cannot be found any more. The time on it stays in all totals.
        </Confirm>
      )}
    </div>
  );
}

/** Whether one may hand a task over and delete it, as the service has it. */
function mayManageTask({ owner_id: ownerId, projectId }: Task): boolean {
  const { _id, isAdmin, isTeamLeader } = getMyself();
  const project = projects.value?.find((one) => one._id === projectId);
  return isAdmin || isTeamLeader || ownerId === _id || project?.owner_id === _id;
}
