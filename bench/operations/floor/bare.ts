import Fastify from 'fastify';
import { setting, tellReady } from '../sides/side.ts';
import { run } from './pool.ts';
import { toComments, toTaskLog, toThreads } from './records.ts';

/*
 * The barest server: one statement for each operation, and nothing beside the answer. A log is inserted without a
 * transaction, a lock of its task or any total, and a list of comments is read without mentions and views.
 */
const companyId = Number(setting('COMPANY_ID'));
const viewerId = Number(setting('EMPLOYEE_ID'));

// The service's own table has its triggers.
await run('drop-logs', 'drop table if exists bare_task_logs', []);
await run('create-logs', 'create table bare_task_logs (like task_logs including all)', []);
await run(
  'refer-to-tasks',
  `alter table bare_task_logs
    add foreign key (company_id, task_id) references tasks (company_id, task_id),
    add foreign key (company_id, employee_id) references employees (company_id, employee_id)`,
  [],
);

/** $1 company, $2 task. */
const listComments = `
  with chosen as materialized (select * from comments where company_id = $1 and task_id = $2),
  likes as materialized (
    select comment_id, employee_id, created_at from comment_likes
    where company_id = $1 and comment_id = any(array(select comment_id from chosen))
  )
  select chosen.*, case when row_number() over (order by comment_id) = 1 then json_build_object(
    'people', (
      select json_agg(json_build_object('employee_id', employee_id, 'name', name, 'email', email, 'picture_id', picture_id))
      from employees where company_id = $1
        and employee_id = any(array(select sender_id from chosen union all select employee_id from likes))
    ),
    'mentions', '[]'::json,
    'likes', array(select array[comment_id, employee_id] from likes order by created_at, employee_id),
    'views', '[]'::json
  ) end as related
  from chosen order by comment_id`;

/** $1 company, $2 task, $3 employee, then the log. */
const insertLog = `
  insert into bare_task_logs (
    company_id, task_id, employee_id, project_id, start_time, end_time, description, manual_add, created_at, updated_at
  )
  select $1, $2, $3, project_id, $4, $5, $6, true, now(), now() from tasks where company_id = $1 and task_id = $2
  returning *`;

const app = Fastify();

app.get<{ Params: { id: string } }>('/api/tasks/chat/:id/', async ({ params }) => {
  const rows = await run('list-comments', listComments, [companyId, Number(params.id)]);
  return { comments: toThreads(toComments(rows, viewerId)) };
});

type NewLog = { task_id: number; employee_id: number; start_time: string; end_time: string; description: string };

app.post<{ Body: NewLog }>('/tasklog/create/', async ({ body }) => {
  const { task_id: taskId, employee_id: employeeId, start_time: start, end_time: end, description } = body;
  const [made] = await run('insert-log', insertLog, [companyId, taskId, employeeId, start, end, description]);
  return toTaskLog(made!);
});

tellReady(await app.listen({ port: 0, host: '127.0.0.1' }));
