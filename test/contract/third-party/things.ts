import { answerOf, clientOf } from './client.ts';
import { register } from './people.ts';

let made = 0;

/** Somebody's new company with one of each thing, for an operation that is called with its example. */
export async function makeThings() {
  made += 1;
  const login = await register(`charles${made}@example.com`);
  const admin = clientOf(login);
  const company = login.company!.company_id;
  const employee = login.employee!._id;
  const person = { first_name: 'Luigi', last_name: 'Menabrea', email: `luigi${made}@example.com`, companyId: company };
  const { _id: colleague } = await answerOf(admin.POST('/employee/add/', { body: person }));
  const { _id: project } = await answerOf(admin.POST('/api/projects/', { body: { name: 'Punched cards' } }));
  const { _id: task } = await answerOf(admin.POST('/api/tasks/', { body: { projectId: project, title: 'Punch' } }));
  const times = { start_time: '2026-03-02T09:00:00Z', end_time: '2026-03-02T10:00:00Z' };
  const log = { task_id: task, employee_id: employee, ...times };
  const { _id: taskLog } = await answerOf(admin.POST('/tasklog/create/', { body: log }));
  const price = { project_id: project, validFrom: '2026-01-01', hourlyRate: { minorUnits: 7000, currency: 'EUR' } };
  const { _id: rate } = await answerOf(
    admin.PUT('/api/rates/{company_id}/', { params: { path: { company_id: company } }, body: price }),
  );
  const policy = { params: { path: { company_id: company } }, body: { requireApproval: true } };
  await answerOf(admin.PUT('/api/time-policy/{company_id}/', policy));
  const asked = { employee_id: employee, period_start: '2026-01-12' };
  const { _id: period } = await answerOf(admin.POST('/api/timesheet-periods/submit/', { body: asked }));
  const said = { taskId: task, sender: employee, message: 'Punched' };
  const { _id: comment } = await answerOf(admin.POST('/api/task-chats/', { body: said }));
  const { _id: apiKey } = await answerOf(admin.POST('/api/api-keys/', { body: { name: 'Loom', scopes: ['read'] } }));
  const hook = { url: 'https://hooks.example.com/work', events: ['comment.created' as const] };
  const { _id: webhook } = await answerOf(admin.POST('/api/webhooks/', { body: hook }));
  const path = { webhook_id: webhook };
  const { _id: webhookDelivery } = await answerOf(admin.POST('/api/webhooks/{webhook_id}/test/', { params: { path } }));
  const ofWork = { company, employee, colleague, project, task, taskLog, rate, period, comment };
  const { _id: exportId } = await answerOf(admin.POST('/api/exports/', { body: {} }));
  return { admin, things: { ...ofWork, apiKey, webhook, webhookDelivery, export: exportId } };
}
