import { describe, expect, test } from 'vitest';
import { got, said } from '../caller.ts';
import { service } from '../running.ts';
import { addLog, addProject, addTask, entryAt, fields, fieldsOf, hourAt } from '../work.ts';
import { waitFor } from '../../support/waiting.ts';

/* Contract 4: task logs. */

const admin = await service.register();
const worker = await service.join(admin);
const neighbour = await service.register();
const project = await addProject(admin);
const newTask = () => addTask(admin, { projectId: project._id });
const theirs = await addTask(neighbour);
const record = fields(
  '_id, taskId, userId, projectId, startTime, endTime, durationSeconds, description, manualAdd, billable, charge, createdAt, updatedAt',
);
const bulk = (entries: object[], user = worker._id) => admin.post(`/tasklogs/bulk/create/${user}/`, entries);
const logsOf = async (taskId: number) => got(await admin.get(`/taskLogs/task/${taskId}/`));

describe('contract 4, POST /tasklog/create/', () => {
  test('answers the log, with snake_case in and camelCase out', async () => {
    const task = await newTask();
    const sent = {
      task_id: task._id,
      employee_id: worker._id,
      start_time: '2026-03-02T08:00:00Z',
      end_time: '2026-03-02T09:30:00Z',
      description: 'Gears',
    };
    const log = got(await worker.post('/tasklog/create/', sent));
    expect(fieldsOf(log)).toEqual(record);
    expect(log).toMatchObject({
      taskId: task._id,
      userId: worker._id,
      projectId: project._id,
      startTime: '2026-03-02T08:00:00.000Z',
      endTime: '2026-03-02T09:30:00.000Z',
      durationSeconds: 5400,
      description: 'Gears',
    });
  });

  test('refuses the same task, employee and start as 409 DUPLICATE_TASK_LOG', async () => {
    const task = await newTask();
    await addLog(worker, task._id, 8);
    const again = { task_id: task._id, employee_id: worker._id, ...hourAt(8), end_time: '2026-03-02T08:10:00Z' };
    expect(said(await worker.post('/tasklog/create/', again))).toBe('409 DUPLICATE_TASK_LOG');
    expect((await logsOf(task._id)).taskLogs).toHaveLength(1);
  });

  test.each([
    ['ends before its start', '2026-03-02T08:00:00Z', '2026-03-02T07:00:00Z', 'end_time'],
    ['ends at its start', '2026-03-02T08:00:00Z', '2026-03-02T08:00:00Z', 'end_time'],
    ['lasts longer than 24 hours', '2026-03-02T08:00:00Z', '2026-03-03T08:00:01Z', 'end_time'],
    ['is more than a day in the future', '2099-03-02T08:00:00Z', '2099-03-02T09:00:00Z', ''],
  ])('refuses one that %s', async (_what, start_time, end_time, field) => {
    const task = await newTask();
    const sent = { task_id: task._id, employee_id: worker._id, start_time, end_time };
    expect(said(await worker.post('/tasklog/create/', sent))).toMatch(
      new RegExp(`^400 VALIDATION_FAILED ${field}.*:out_of_range`),
    );
  });

  test('takes 24 hours, and up to a day in the future', async () => {
    const task = await newTask();
    const sent = {
      task_id: task._id,
      employee_id: worker._id,
      start_time: '2026-03-02T08:00:00Z',
      end_time: '2026-03-03T08:00:00Z',
    };
    expect(got(await worker.post('/tasklog/create/', sent)).durationSeconds).toBe(86_400);
    const [start_time, end_time] = [20, 21].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
    expect(said(await worker.post('/tasklog/create/', { ...sent, start_time, end_time }))).toBe('200');
  });

  test('refuses a task and an employee of another company by name', async () => {
    const task = await newTask();
    const sent = { task_id: task._id, employee_id: worker._id, ...hourAt(8) };
    expect(said(await admin.post('/tasklog/create/', { ...sent, task_id: theirs._id }))).toBe(
      '400 VALIDATION_FAILED task_id:not_found',
    );
    expect(said(await admin.post('/tasklog/create/', { ...sent, employee_id: neighbour._id }))).toBe(
      '400 VALIDATION_FAILED employee_id:not_found',
    );
  });
});

describe('contract 4, POST /tasklogs/bulk/create/{user_id}/', () => {
  test('answers created, skipped, days and exceededProjects', async () => {
    const task = await newTask();
    const answer = got(await bulk([entryAt(task._id, worker._id, 1), entryAt(task._id, worker._id, 2)]));
    expect(fieldsOf(answer)).toEqual(fields('created, skipped, days, exceededProjects'));
    for (const log of answer.created) expect(fieldsOf(log)).toEqual(record);
    expect(answer.created).toMatchObject([{ manualAdd: true, description: 'Gears' }, { userId: worker._id }]);
    expect([answer.skipped, answer.exceededProjects]).toEqual([[], []]);
  });

  test('skips duplicates of what is stored, and inside the array, and counts neither as an error', async () => {
    const task = await newTask();
    await addLog(worker, task._id, 3);
    const [stored, fresh] = [entryAt(task._id, worker._id, 3), entryAt(task._id, worker._id, 4)];
    const { created, skipped } = got(await bulk([stored, fresh, fresh]));
    expect(created).toHaveLength(1);
    const duplicate = { taskId: task._id, userId: worker._id, reason: 'duplicate' };
    expect(skipped).toEqual([
      { index: 0, ...duplicate, startTime: '2026-03-02T03:00:00.000Z' },
      { index: 2, ...duplicate, startTime: '2026-03-02T04:00:00.000Z' },
    ]);
  });

  test.each([
    ['whose userId is not the path’s', () => ({ userId: admin._id }), 'userId'],
    ['of a task of another company', () => ({ taskId: theirs._id }), 'taskId'],
    ['that ends before its start', () => ({ endTime: '2026-03-02T00:00:00Z' }), 'endTime'],
    ['without a start', () => ({ startTime: undefined }), 'startTime'],
  ])('is all or nothing: an entry %s is a 400 that names its index', async (_what, change, field) => {
    const task = await newTask();
    const entries = [5, 6, 7].map((hour) => entryAt(task._id, worker._id, hour));
    entries[1] = { ...entries[1]!, ...(change() as object) };
    expect(said(await bulk(entries))).toMatch(new RegExp(`^400 VALIDATION_FAILED 1\\.${field}:`));
    expect((await logsOf(task._id)).taskLogs).toEqual([]);
  });

  test('answers the working hours of each whole day touched: no minute counts twice', async () => {
    const [person, one, two] = [await service.join(admin), await newTask(), await newTask()];
    await addLog(person, one._id, 6);
    const overlapping = {
      ...entryAt(two._id, person._id, 6),
      startTime: '2026-03-02T06:30:00Z',
      endTime: '2026-03-02T08:00:00Z',
    };
    expect(got(await bulk([overlapping], person._id)).days).toEqual([{ date: '2026-03-02', workingHours: 2 }]);
  });

  test('splits logs at midnight of the company’s time zone', async () => {
    const boss = await service.register();
    got(await boss.put(`/company/${boss.companyId}/update/`, { timezone: 'Asia/Tokyo' }));
    const task = await addTask(boss);
    // 15:00 UTC is midnight there.
    const night = {
      taskId: task._id,
      userId: boss._id,
      startTime: '2026-03-02T13:00:00Z',
      endTime: '2026-03-02T18:00:00Z',
      description: '',
    };
    const { days } = got(await boss.post(`/tasklogs/bulk/create/${boss._id}/`, [night]));
    expect(days).toEqual([
      { date: '2026-03-02', workingHours: 2 },
      { date: '2026-03-03', workingHours: 3 },
    ]);
  });

  test('tells of exceeded projects, and each active admin once per crossing; raising the allocation arms it again', async () => {
    const boss = await service.register();
    const second = await service.join(boss);
    got(await boss.patch(`/api/employees/${second._id}/`, { isAdmin: true }));
    const small = await addProject(boss, { allocatedHours: 2 });
    const task = await addTask(boss, { projectId: small._id });
    const write = async (...hours: number[]) =>
      got(
        await boss.post(
          `/tasklogs/bulk/create/${boss._id}/`,
          hours.map((hour) => entryAt(task._id, boss._id, hour)),
        ),
      );
    const told = async (caller: typeof boss) =>
      got(await caller.get(`/notifications/recipient/${caller._id}/?category=project`)).results.filter(
        (one: { title: string; projectId: number }) => one.projectId === small._id,
      );
    expect((await write(1, 2)).exceededProjects).toEqual([]);
    // Many requests that cross it at the same time.
    const answers = await Promise.all([3, 4, 5, 6].map((hour) => write(hour)));
    expect(answers.flatMap(({ exceededProjects }) => exceededProjects).length).toBeGreaterThan(0);
    expect((await write(7)).exceededProjects).toEqual([{ projectId: small._id, allocatedHours: 2, loggedHours: 7 }]);
    for (const caller of [boss, second]) await waitFor(async () => expect(await told(caller)).toHaveLength(1));
    got(await boss.patch(`/api/projects/${small._id}/`, { allocatedHours: 8 }));
    await write(8, 9);
    for (const caller of [boss, second]) await waitFor(async () => expect(await told(caller)).toHaveLength(2));
    expect((await told(boss))[0]).toMatchObject({ projectId: small._id, category: 'project' });
  });
});

describe('contract 4, GET /taskLogs/task/{taskId}/', () => {
  test('answers all logs of the task, newest start first, and their sum', async () => {
    const task = await newTask();
    for (const hour of [9, 11, 10]) await addLog(worker, task._id, hour);
    await addLog(admin, task._id, 12);
    const { taskLogs, totalSeconds, ...rest } = await logsOf(task._id);
    expect(rest).toEqual({});
    expect(taskLogs.map((log: { startTime: string }) => log.startTime.slice(11, 13))).toEqual(['12', '11', '10', '09']);
    expect(totalSeconds).toBe(4 * 3600);
    for (const log of taskLogs) expect(fieldsOf(log)).toEqual(record);
  });
});

describe('contract 4, PUT /tasklogs/{taskLogId}/', () => {
  test('changes each documented field, as a manual entry', async () => {
    const [task, other] = [await newTask(), await newTask()];
    const log = await addLog(worker, task._id, 13);
    const change = {
      startTime: '2026-03-04T08:00:00Z',
      endTime: '2026-03-04T08:30:00Z',
      description: 'Changed',
      taskId: other._id,
      userId: admin._id,
    };
    const changed = got(await admin.put(`/tasklogs/${log._id}/`, change));
    expect(fieldsOf(changed)).toEqual(record);
    expect(changed).toMatchObject({
      _id: log._id,
      taskId: other._id,
      userId: admin._id,
      startTime: '2026-03-04T08:00:00.000Z',
      durationSeconds: 1800,
      description: 'Changed',
      manualAdd: true,
    });
    expect((await logsOf(task._id)).taskLogs).toEqual([]);
  });

  test('refuses what a new log may not be either', async () => {
    const task = await newTask();
    const log = await addLog(worker, task._id, 14);
    await addLog(worker, task._id, 15);
    const path = `/tasklogs/${log._id}/`;
    expect(said(await worker.put(path, { endTime: '2026-03-02T13:00:00Z' }))).toMatch(
      /^400 VALIDATION_FAILED endTime:out_of_range/,
    );
    expect(said(await worker.put(path, { startTime: '2026-03-02T15:00:00Z', endTime: '2026-03-02T16:00:00Z' }))).toBe(
      '409 DUPLICATE_TASK_LOG',
    );
    expect(said(await worker.put(path, { taskId: theirs._id }))).toBe('400 VALIDATION_FAILED taskId:not_found');
    expect(said(await admin.put(path, { userId: neighbour._id }))).toBe('400 VALIDATION_FAILED userId:not_found');
    expect(said(await neighbour.put(path, { description: 'x' }))).toBe('404 NOT_FOUND');
    expect(said(await worker.put('/tasklogs/987654321/', {}))).toBe('404 NOT_FOUND');
  });
});

describe('contract 4, DELETE /api/tasklogs/delete/{pk}/', () => {
  test('deletes the log, and its time', async () => {
    const task = await newTask();
    const log = await addLog(worker, task._id, 16);
    expect(got(await worker.delete(`/api/tasklogs/delete/${log._id}/`))).toEqual({ success: true });
    expect(await logsOf(task._id)).toEqual({ taskLogs: [], totalSeconds: 0 });
    expect(said(await worker.delete(`/api/tasklogs/delete/${log._id}/`))).toBe('404 NOT_FOUND');
  });
});
