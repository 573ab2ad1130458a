import Fastify from 'fastify';
import { setting, tellReady } from '../sides/side.ts';
import { login } from './login.ts';
import { inTransaction, run } from './pool.ts';
import { toComments, toEmployee, toNotification, toThreads, unseen, type Person } from './records.ts';
import * as sql from './statements.ts';
import { createLog, createLogs } from './task-logs.ts';

/*
 * The floor: what a good team writes by hand without this project. Fastify, a pool of pg with prepared statements, the
 * same answers; no authentication, validation or log.
 */
const companyId = Number(setting('COMPANY_ID'));
const viewerId = Number(setting('EMPLOYEE_ID'));
const app = Fastify();

type Id = { Params: { id: string } };

app.get('/ping', async () => ({ pong: true }));

app.get<Id>('/api/tasks/chat/:id/', async ({ params }) => {
  const rows = await run('list-comments', sql.listComments, [companyId, Number(params.id)]);
  return { comments: toThreads(toComments(rows, viewerId)) };
});

app.get<Id>('/notifications/recipient/:id/', async ({ params }) => {
  const recipient = [companyId, Number(params.id)];
  const [rows, [{ count }]] = await Promise.all([
    run('list-notifications', sql.listNotifications, recipient),
    run<{ count: number }>('count-notifications', sql.countNotifications, recipient) as Promise<[{ count: number }]>,
  ]);
  return {
    results: rows.map(toNotification),
    page: 1,
    pageSize: 10,
    total: count,
    totalPages: Math.ceil(count / 10),
  };
});

app.get<Id>('/notifications/unread-count/:id/', async ({ params }) => {
  const [row] = await run<{ unread: number }>('count-unread', sql.countUnread, [companyId, Number(params.id)]);
  return { unread: row!.unread };
});

app.get<Id & { Querystring: { q: string } }>('/employees/search/:id/', async ({ query: { q } }) => {
  const [first = '', second = first] = q.split(' ').map((word) => `%${word}%`);
  const rows = await run('search-employees', sql.searchEmployees, [companyId, first, second, q]);
  return { employees: rows.map(toEmployee) };
});

app.get<Id>('/employee/me/:id/', async ({ params }) => {
  const [row] = await run('find-employee', sql.findEmployee, [companyId, Number(params.id)]);
  return toEmployee(row!);
});

app.post<{ Body: { taskId: number; sender: number; message: string } }>('/api/task-chats/', async ({ body }) =>
  inTransaction(async (run) => {
    const { taskId, sender, message } = body;
    await run('find-task', sql.findTask, [companyId, taskId]);
    const [person] = await run<Person>('find-person', sql.findPerson, [companyId, sender]);
    const [made] = await run<{ comment_id: number; created_at: Date }>('insert-comment', sql.insertComment, [
      companyId,
      taskId,
      sender,
      message,
    ]);
    const commentId = made!.comment_id;
    await run('enqueueJob', sql.enqueueJob, [`comment-created ${commentId}`, JSON.stringify({ companyId, commentId })]);
    const payload = JSON.stringify({ comment_id: commentId, task_id: taskId, sender_id: sender });
    await run('appendEvent', sql.appendEvent, [companyId, `task ${taskId}`, 'comment.created', payload]);
    const row = { ...made, company_id: companyId, task_id: taskId, sender_id: sender, message };
    const related = { people: [person], mentions: [], likes: [], views: [] };
    return toComments([{ ...unseen, ...row, related }], viewerId)[0];
  }),
);

app.post<{ Body: Parameters<typeof createLog>[1] }>('/tasklog/create/', async ({ body }) => createLog(companyId, body));
app.post<{ Body: Parameters<typeof createLogs>[1] }>('/tasklogs/bulk/create/:id/', async ({ body }) =>
  createLogs(companyId, body),
);
app.post<{ Body: Parameters<typeof login>[0] }>('/login/', async ({ body }) => login(body));

tellReady(await app.listen({ port: 0, host: '127.0.0.1' }));
