import { expect, inject, test } from 'vitest';
import { verifyCounts } from '../../db/derived/verify-counts.ts';
import { verifyTotals } from '../../db/derived/verify-work-time.ts';
import type { Actor, Answer } from '../support/actor.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';

/*
 * Many writers at once on few rows: everything that a trigger derives is right afterwards, and the order of locks
 * (db/derived/index.ts) lets nobody wait in a circle. On one connection nothing happens at once.
 */

const writers = 64;
const rounds = 8;
const hourMs = 3_600_000;

/** A small generator, so that a failure can be repeated. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test.runIf(inject('template').kind === 'server')(
  '64 writers on the same people, tasks and projects never deadlock, and every derived value is right',
  async () => {
    const service = await startService();
    const admin = await service.registerCompany();
    const people = [admin];
    for (let person = 0; person < 7; person += 1) people.push(await service.addEmployee(admin));
    const work = [
      await startWork(admin, { allocatedHours: 40 }),
      await startWork(admin, { allocatedHours: 2 }),
      await startWork(admin),
    ];
    const projects = work.map(({ projectId }) => projectId);
    const tasks = work.map(({ taskId }) => taskId);
    for (const projectId of projects) tasks.push(await addTask(admin, projectId), await addTask(admin, projectId));
    const setRate = (minorUnits: number, fields: object = {}) =>
      admin.put(`/api/rates/${admin.companyId}/`, {
        validFrom: '2020-01-01',
        hourlyRate: { minorUnits, currency: 'EUR' },
        ...fields,
      });
    await setRate(4321);
    const logs: number[] = [];
    const comments: number[] = [];

    const next = seeded(20_261_122);
    const any = <Item>(items: readonly Item[]): Item => items[next(items.length)]!;
    const from = (): Date => new Date(Date.UTC(2025, 2, 3) + next(96) * hourMs + next(1000));
    const later = (start: Date): string => new Date(start.getTime() + (1 + next(5)) * hourMs).toISOString();
    const keep = (into: number[]) => (answer: Answer) => {
      if (answer.status === 200) into.push(answer.body._id);
      return answer;
    };

    const log = () => {
      const start = from();
      const fields = { task_id: any(tasks), employee_id: any(people).employeeId };
      return admin
        .post('/tasklog/create/', { ...fields, start_time: start.toISOString(), end_time: later(start) })
        .then(keep(logs));
    };
    const bulk = () => {
      const userId = any(people).employeeId;
      const entries = Array.from({ length: 8 }, () => {
        const start = from();
        return { taskId: any(tasks), userId, startTime: start.toISOString(), endTime: later(start) };
      });
      return admin.post(`/tasklogs/bulk/create/${userId}/`, entries);
    };
    const comment = () => {
      const sender: Actor = any(people);
      const fields = {
        taskId: any(tasks),
        sender: sender.employeeId,
        message: 'It turns',
        mentionedEmails: [any(people).email],
      };
      return sender.post('/api/task-chats/', fields).then(keep(comments));
    };
    const kinds: (() => Promise<Answer>)[] = [
      log,
      bulk,
      bulk,
      bulk,
      comment,
      () =>
        logs.length === 0
          ? log()
          : admin.put(`/tasklogs/${any(logs)}/`, { userId: any(people).employeeId, taskId: any(tasks) }),
      () => (logs.length === 0 ? log() : admin.delete(`/api/tasklogs/delete/${any(logs)}/`)),
      () => (comments.length === 0 ? comment() : admin.delete(`/api/taskchat/${any(comments)}/`)),
      () => admin.patch(`/api/tasks/${any(tasks)}/`, { projectId: any(projects), status: any(['todo', 'done']) }),
      () => admin.patch(`/api/tasks/${any(tasks)}/`, { owner_id: any(people).employeeId }),
      () => admin.post('/api/tasks/', { projectId: any(projects), title: 'Cut the gears' }).then(keep(tasks)),
      () => admin.patch(`/api/projects/${any(projects)}/`, { allocatedHours: 1 + next(60) }),
      () =>
        admin.patch(`/api/projects/${any(projects)}/`, { budget: { minorUnits: next(1_000_000), currency: 'EUR' } }),
      () => setRate(next(9999), { project_id: any(projects) }),
      () => admin.post('/api/tasklogs/apply-rates/', { from: '2025-03-01', to: '2025-03-31', dryRun: false }),
      () => admin.post(`/mark_notifications_as_read/${admin.employeeId}/`),
    ];

    for (let round = 0; round < rounds; round += 1) {
      const answers = await Promise.all(Array.from({ length: writers }, () => any(kinds)()));
      // Some find gone what another has just deleted.
      expect(
        [...new Set(answers.map(({ status }) => status))].filter((status) => ![200, 403, 404, 409].includes(status)),
      ).toEqual([]);
      await service.drain();
    }

    const { db } = service.database.forCompany(admin.companyId);
    expect((await verifyTotals(db, admin.companyId)).differences).toEqual([]);
    expect((await verifyCounts(db, admin.companyId)).differences).toEqual([]);
    expect(service.log()).not.toContain('40P01');
  },
);
