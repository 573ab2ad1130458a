import { expect, test } from 'vitest';
import { operationsOf } from '../../server/http/operations.ts';
import { appRouter } from '../../server/router.ts';
import { refusal } from '../support/actor.ts';
import { startService } from '../support/service.ts';
import { makeThings } from '../support/things.ts';

const service = await startService();
const { db } = service.database;
const admin = await service.signIn((await service.registerCompany()).email);
const things = await makeThings(service, admin, await service.addEmployee(admin));

const operations = operationsOf(appRouter);
const updates = operations.filter(({ method, input, pathParameters }) => {
  const fields = Object.keys(input?.shape ?? {}).filter((field) => !pathParameters.includes(field));
  return (method === 'PUT' || method === 'PATCH') && fields.length > 0;
});

/** A change without passwords is no change, and answers no record: it is refused. */
const refused = ['PUT /employee/password/{employee_id}/'];

const paths: Record<string, { path: string; record: string }> = {
  'PATCH /api/employees/{_id}/': { path: `/api/employees/${things.employee}/`, record: 'employees' },
  'PATCH /employee/update-picture/{_id}/': {
    path: `/employee/update-picture/${things.employee}/`,
    record: 'employees',
  },
  'PUT /tasklogs/{taskLogId}/': { path: `/tasklogs/${things.taskLog}/`, record: 'task_logs' },
  'PATCH /api/edit-task-chats/{comment_id}/': { path: `/api/edit-task-chats/${things.comment}/`, record: 'comments' },
  'PUT /company/{company_id}/update/': { path: `/company/${things.company}/update/`, record: 'companies' },
  'PATCH /api/projects/{project_id}/': { path: `/api/projects/${things.project}/`, record: 'projects' },
  'PATCH /api/tasks/{task_id}/': { path: `/api/tasks/${things.task}/`, record: 'tasks' },
  'PATCH /api/notifications/{notification_id}/': {
    path: `/api/notifications/${things.notification}/`,
    record: 'notifications',
  },
  'PUT /api/notification-preferences/{employee_id}/': {
    path: `/api/notification-preferences/${things.self}/`,
    record: 'notification_preferences',
  },
};

type Table = 'employees' | 'events' | 'deliveries';
async function rowsOf(table: string): Promise<unknown[]> {
  return db
    .selectFrom(table as Table)
    .where('company_id' as never, '=', admin.companyId as never)
    .selectAll()
    .execute();
}

/** All that a change could leave behind. */
async function traces(record: string): Promise<unknown> {
  const { count } = await db
    .selectFrom('deliveries')
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return { rows: await rowsOf(record), events: (await rowsOf('events')).length, deliveries: count };
}

test('every PUT and PATCH with fields of its own is looked at here', () => {
  const lines = updates.map(({ method, path }) => `${method} ${path}`).toSorted();
  expect([...Object.keys(paths), ...refused].toSorted()).toEqual(lines);
});

test.each(Object.entries(paths))('%s with no field that it lists changes nothing', async (line, { path, record }) => {
  const method = line.split(' ')[0]!;
  // As a timer leaves it, so that a change would show.
  await db.updateTable('task_logs').set({ manual_add: false }).where('company_id', '=', admin.companyId).execute();
  await service.drain();
  service.clock.advance({ minutes: 1 });
  const before = await traces(record);
  const empty = await admin.send(method, path, {});
  expect(empty.status).toBe(200);
  const unknown = await admin.send(method, path, { nonsense: 1, updatedAt: '2020-01-01T00:00:00Z', manualAdd: true });
  expect({ status: unknown.status, body: unknown.body }).toEqual({ status: 200, body: empty.body });
  expect(await traces(record)).toEqual(before);
});

test.each(updates.map(({ method, path }) => [method, path] as const))(
  '%s %s takes an object and nothing else',
  async (method, path) => {
    const url = paths[`${method} ${path}`]?.path ?? `/employee/password/${things.self}/`;
    const options = { headers: { 'content-type': 'application/json' } };
    for (const body of ['null', '[]', '[{}]', '"x"', '1', 'true', undefined]) {
      const answer = await admin.send(method, url, body, body === undefined ? {} : options);
      expect([body, refusal(answer)]).toEqual([body, { status: 400, code: 'VALIDATION_FAILED', issues: [''] }]);
      expect(answer.body.issues[0].code).toBe('invalid_type');
    }
  },
);
