import assert from 'node:assert/strict';
import { answerOf, clientOf, codeOf } from './client.ts';
import type { Company } from './people.ts';

/* Projects, tasks and the time on them. */

export type Work = { projectId: number; taskId: number };

export async function startWork({ companyId, ada, grace }: Company): Promise<Work> {
  const asAda = clientOf(ada.pair);
  const engine = { name: 'Difference Engine', allocatedHours: 40 };
  const { _id: projectId } = await answerOf(asAda.POST('/api/projects/', { body: engine }));
  const ofProject = { params: { path: { project_id: projectId } } };
  const held = await answerOf(
    asAda.PATCH('/api/projects/{project_id}/', { ...ofProject, body: { allocatedHours: 60 } }),
  );
  assert.equal(held.allocatedHours, 60);
  assert.deepEqual(await answerOf(asAda.GET('/api/projects/{project_id}/', ofProject)), held);
  const gears = { projectId, title: 'Cut the gears', collaboratorIds: [grace.id], dueDate: '2031-03-31' };
  const { _id: taskId } = await answerOf(asAda.POST('/api/tasks/', { body: gears }));
  const ofTask = { params: { path: { task_id: taskId } } };
  const moved = await answerOf(asAda.PATCH('/api/tasks/{task_id}/', { ...ofTask, body: { status: 'in_progress' } }));
  assert.deepEqual([moved.status, moved.collaborators[0]?.name], ['in_progress', 'Grace Hopper']);
  assert.equal((await answerOf(asAda.GET('/api/tasks/{task_id}/', ofTask))).title, 'Cut the gears');
  const found = await answerOf(
    asAda.GET('/api/tasks/company/{company_id}/', {
      params: { path: { company_id: companyId }, query: { q: 'gears', status: 'in_progress', page: 1 } },
    }),
  );
  assert.deepEqual([found.total, found.results[0]?._id], [1, taskId]);
  const projects = await answerOf(
    asAda.GET('/api/projects/company/{company_id}/', { params: { path: { company_id: companyId } } }),
  );
  assert.equal(projects.results[0]?._id, projectId);
  return { projectId, taskId };
}

export async function logTime({ companyId, ada, grace }: Company, { taskId }: Work): Promise<void> {
  const asGrace = clientOf(grace.pair);
  const body = {
    task_id: taskId,
    employee_id: grace.id,
    start_time: '2026-03-02T10:00:00+01:00',
    end_time: '2026-03-02T09:30:00Z',
  };
  const log = await answerOf(asGrace.POST('/tasklog/create/', { body }));
  assert.deepEqual([log.startTime, log.durationSeconds], ['2026-03-02T09:00:00.000Z', 1800]);
  assert.equal(await codeOf(asGrace.POST('/tasklog/create/', { body })), 'DUPLICATE_TASK_LOG');
  const entry = { taskId, userId: grace.id, startTime: '2026-03-03T09:00:00Z', endTime: '2026-03-03T12:00:00Z' };
  const many = await answerOf(
    asGrace.POST('/tasklogs/bulk/create/{user_id}/', {
      params: { path: { user_id: grace.id } },
      body: [entry, { ...entry, description: 'again', manualAdd: false }],
    }),
  );
  assert.deepEqual([many.created.length, many.skipped[0]?.reason, many.days[0]?.workingHours], [1, 'duplicate', 3]);
  const ofLog = { params: { path: { taskLogId: log._id } } };
  const longer = await answerOf(
    asGrace.PUT('/tasklogs/{taskLogId}/', { ...ofLog, body: { endTime: '2026-03-02T10:00:00Z' } }),
  );
  assert.equal(longer.durationSeconds, 3600);
  const logs = await answerOf(asGrace.GET('/taskLogs/task/{taskId}/', { params: { path: { taskId } } }));
  assert.deepEqual([logs.taskLogs.length, logs.totalSeconds], [2, 4 * 3600]);
  await answerOf(asGrace.DELETE('/api/tasklogs/delete/{pk}/', { params: { path: { pk: log._id } } }));

  const ofGrace = { params: { path: { employee_id: grace.id } } };
  assert.deepEqual(await answerOf(asGrace.GET('/api/tasklogs/timer/{employee_id}/', ofGrace)), { timer: null });
  const timer = await answerOf(asGrace.POST('/api/tasklogs/timer/start/', { body: { taskId } }));
  assert.equal(timer.userId, grace.id);
  assert.equal(await codeOf(asGrace.POST('/api/tasklogs/timer/start/', { body: { taskId } })), 'TIMER_RUNNING');
  assert.equal((await answerOf(asGrace.POST('/api/tasklogs/timer/stop/'))).manualAdd, false);
  await answerOf(asGrace.POST('/api/tasklogs/timer/start/', { body: { taskId } }));
  assert.deepEqual(await answerOf(asGrace.DELETE('/api/tasklogs/timer/{employee_id}/', ofGrace)), { success: true });

  const ofCompany = { company_id: companyId };
  const range = { from: '2026-03-01', to: '2026-03-31' } as const;
  const sheet = await answerOf(
    asGrace.GET('/api/timesheets/{company_id}/', { params: { path: ofCompany, query: { ...range, groupBy: 'day' } } }),
  );
  assert.ok(typeof sheet !== 'string');
  assert.equal(sheet.totalSeconds, 3 * 3600);
  const csv = await asGrace.GET('/api/timesheets/{company_id}/', {
    params: { path: ofCompany, query: { ...range, format: 'csv' } },
    parseAs: 'text',
  });
  assert.match(String(csv.data), /^Total,/m);
  for (const [format, magic] of [
    ['xlsx', 'PK'],
    ['pdf', '%PDF-'],
  ] as const) {
    const file = await asGrace.GET('/api/timesheets/{company_id}/', {
      params: { path: ofCompany, query: { ...range, format } },
      parseAs: 'arrayBuffer',
    });
    assert.ok(file.data);
    assert.equal(Buffer.from(file.data).toString('latin1', 0, magic.length), magic);
  }
  const { employees } = await answerOf(
    clientOf(ada.pair).GET('/api/performance/{company_id}/', { params: { path: ofCompany } }),
  );
  assert.ok(employees.find(({ employee_id }) => employee_id === grace.id)!.loggedHours >= 3);
}

export async function endWork({ ada }: Company, { projectId, taskId }: Work): Promise<void> {
  const asAda = clientOf(ada.pair);
  await answerOf(asAda.DELETE('/api/tasks/{task_id}/', { params: { path: { task_id: taskId } } }));
  const ofProject = { params: { path: { project_id: projectId } } };
  await answerOf(asAda.DELETE('/api/projects/{project_id}/', ofProject));
  assert.equal(await codeOf(asAda.GET('/api/projects/{project_id}/', ofProject)), 'NOT_FOUND');
}
