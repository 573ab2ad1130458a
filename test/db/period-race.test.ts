import { expect, test } from 'vitest';
import type { Actor, Answer } from '../support/actor.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';

/*
 * Whoever is first: many writers of a person's week, and one who hands it in. A log is in the snapshot, or it was refused;
 * what is changed or deleted afterwards is refused too.
 */

const writers = 64;
const rounds = Number(process.env['TEST_ROUNDS'] ?? 3);
const dayMs = 86_400_000;

test(
  '64 writers against one submission: never a log in a submitted period that its snapshot lacks',
  async () => {
    const service = await startService();
    const { db } = service.database;
    const admin = await service.registerCompany();
    const { projectId, taskId } = await startWork(admin);
    const other = await startWork(admin);
    const counts = { written: 0, refused: 0 };

    for (let round = 0; round < rounds; round += 1) {
      const firstDay = Date.parse('2024-01-01') + round * 7 * dayMs;
      const periodStart = new Date(firstDay).toISOString().slice(0, 10);
      const at = (hours: number) => new Date(firstDay + hours * 3_600_000).toISOString();
      const log = (writer: number, fields = { task_id: taskId }): Promise<Answer> =>
        admin.post('/tasklog/create/', {
          ...fields,
          employee_id: admin.employeeId,
          start_time: at(2 * writer),
          end_time: at(2 * writer + 1),
        });
      const moving = await addTask(admin, projectId);
      await log(0, { task_id: moving });
      const stored: number[] = [];
      for (let writer = 1; writer < 17; writer += 1) stored.push((await log(writer)).body._id);

      const write = (writer: number): Promise<Answer> => {
        if (writer < 6) return admin.put(`/tasklogs/${stored[writer]}/`, { endTime: at(2 * (writer + 1) + 1.5) });
        if (writer < 11) return admin.delete(`/api/tasklogs/delete/${stored[writer]}/`);
        if (writer === 11) return admin.patch(`/api/tasks/${moving}/`, { projectId: other.projectId });
        if (writer > 16 && writer < 24)
          return admin.post(
            `/tasklogs/bulk/create/${admin.employeeId}/`,
            [0, 0.25, 0.5].map((part) => ({
              taskId,
              userId: admin.employeeId,
              startTime: at(2 * writer + part),
              endTime: at(2 * writer + part + 0.25),
            })),
          );
        return log(writer < 17 ? writer + 60 : writer);
      };
      const submit = (): Promise<Answer> =>
        admin.post('/api/timesheet-periods/submit/', { employee_id: admin.employeeId, period_start: periodStart });
      const calls = Array.from({ length: writers }, (_, writer) => () => write(writer));
      calls.splice((round * 13) % writers, 0, submit);
      const answers = await Promise.all(calls.map((call) => call()));

      expect(
        [...new Set(answers.map(({ status }) => status))].filter((status) => ![200, 409].includes(status)),
      ).toEqual([]);
      const refused = answers.filter(({ status }) => status === 409);
      expect(refused.every(({ body }) => body.code === 'PERIOD_LOCKED')).toBe(true);
      counts.refused += refused.length;
      counts.written += writers - refused.length;
      await expectComplete(
        admin,
        periodStart,
        answers.find(({ body }) => body.firstDay === periodStart)!,
      );
      expect((await log(70)).body.code).toBe('PERIOD_LOCKED');
    }
    expect(service.log()).not.toContain('40P01');
    expect(counts.written).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);

    /** The snapshot is what the logs and the day totals of the week say. */
    async function expectComplete({ companyId }: Actor, start: string, submitted: Answer): Promise<void> {
      const { body } = await admin.get(`/api/timesheet-periods/company/${companyId}/?from=${start}&to=${start}`);
      expect(body.results).toEqual([submitted.body]);
      const end = new Date(Date.parse(start) + 7 * dayMs);
      const logs = await db
        .selectFrom('task_logs')
        .where('company_id', '=', companyId)
        .where('start_time', '>=', new Date(start))
        .where('start_time', '<', end)
        .select(({ fn }) => ['project_id', fn.sum<number>('duration_seconds').as('seconds')])
        .groupBy('project_id')
        .orderBy('project_id')
        .execute();
      const bySnapshot = Map.groupBy(submitted.body.snapshot as Part[], (part) => part.projectId);
      const sums = [...bySnapshot].map(([project_id, parts]) => ({
        project_id,
        seconds: parts.reduce((total, { seconds }) => total + seconds, 0),
      }));
      expect(sums.toSorted((a, b) => a.project_id - b.project_id)).toEqual(logs);
      const days = await db
        .selectFrom('work_days')
        .where('company_id', '=', companyId)
        .where('day', '>=', start)
        .where('day', '<', end.toISOString().slice(0, 10))
        .select(['day', 'logged_seconds'])
        .orderBy('day')
        .execute();
      const byDay = Map.groupBy(submitted.body.snapshot as Part[], (part) => part.date);
      expect([...byDay].map(([day, parts]) => [day, parts.reduce((total, { seconds }) => total + seconds, 0)])).toEqual(
        days.map((row) => [row.day, row.logged_seconds]),
      );
    }
  },
  30_000 + rounds * 20_000,
);

type Part = { date: string; projectId: number; seconds: number };
