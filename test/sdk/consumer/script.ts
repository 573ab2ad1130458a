import { createClient, isApiError } from 'work-management-client';

/* What a user's first script might be; the test of the package runs it, and so it takes what it needs from outside. */

const { BASE_URL, ACCESS_TOKEN, REFRESH_TOKEN, COMPANY_ID, EMPLOYEE_ID, TASK_ID } = process.env as Record<
  string,
  string
>;
const client = createClient({
  baseUrl: BASE_URL!,
  session: { accessToken: ACCESS_TOKEN!, refreshToken: REFRESH_TOKEN! },
});
const [company_id, employee_id, taskId] = [Number(COMPANY_ID), Number(EMPLOYEE_ID), Number(TASK_ID)];

for await (const task of client.tasks.list({ company_id, status: 'todo' })) console.log('tasks:', task.title);

function onStatus(status: string): void {
  if (status === 'live') void client.comments.create({ taskId, sender: employee_id, message: '<p>Hello</p>' });
}
for await (const event of client.comments.onTask({ taskId }, { onStatus })) {
  if (event.type !== 'comment.created') continue;
  console.log('event:', event.type, event.comment?.message);
  break;
}

const log = {
  task_id: taskId,
  employee_id,
  start_time: '2026-03-02T09:00:00Z',
  end_time: '2026-03-02T10:30:00Z',
};
await client.taskLogs.create(log);
const file = await client.timesheets.csv({ company_id, from: '2026-03-01', to: '2026-03-31' });
console.log('file:', (await file.text()).trim().split('\r\n').at(-1));

try {
  await client.taskLogs.create(log);
} catch (error) {
  if (!isApiError(error, 'DUPLICATE_TASK_LOG')) throw error;
  console.log('error:', error.code, error.status);
}
console.log('done');
