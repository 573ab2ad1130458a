import { router } from '../../kernel/trpc.ts';
import { bulkCreateTaskLogs } from './bulk-create-task-logs.ts';
import { createTaskLog } from './create-task-log.ts';
import { deleteTaskLog } from './delete-task-log.ts';
import { listLogsOfTask } from './list-logs-of-task.ts';
import { updateTaskLog } from './update-task-log.ts';

export const taskLogs = router({
  create: createTaskLog,
  bulkCreate: bulkCreateTaskLogs,
  listByTask: listLogsOfTask,
  update: updateTaskLog,
  delete: deleteTaskLog,
});
