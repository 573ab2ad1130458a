import { router } from '../../kernel/trpc.ts';
import { createTask } from './create-task.ts';
import { deleteTask } from './delete-task.ts';
import { getTask } from './get-task.ts';
import { onProject } from './on-project.ts';
import { listTasks } from './list-tasks.ts';
import { updateTask } from './update-task.ts';

export const tasks = router({
  create: createTask,
  list: listTasks,
  get: getTask,
  update: updateTask,
  delete: deleteTask,
  onProject,
});
