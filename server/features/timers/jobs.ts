import { z } from 'zod';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { handlerOf, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { employeeOffboarded } from '../employees/offboard-employee.ts';
import { notify } from '../notifications/notify.ts';
import { endOverdueTimer, endTimer } from './close-timer.ts';
import { takeTimer } from './queries.ts';

/**
 * Due 24 hours after the start of a timer: ends it if it still runs, and notifies its owner. A timer that was
 * stopped, or started later, is not touched.
 */
export const timerOverdue = jobHandler({
  name: 'timer-overdue',
  payload: z.object({ companyId: id, employeeId: id }),
  async run(services, { companyId, employeeId }) {
    const { clock, settings } = services;
    const now = clock.now();
    await inTransaction(services, companyId, async (db) => {
      const log = await endOverdueTimer(db, { companyId, employeeId, now, settings });
      if (!log) return;
      const notification = {
        recipientId: employeeId,
        cause: `timer closed as log ${log.task_log_id}`,
        appType: 'hr' as const,
        category: 'need_attention' as const,
        priority: 'primary' as const,
        title: 'Your timer was closed after 24 hours',
        message: 'It was still running, and its 24 hours are logged now. Correct them where you worked less.',
        link: `${settings.appUrl}/tasks/${log.task_id}`,
        actorId: null,
        taskId: log.task_id,
        projectId: log.project_id,
      };
      await notify(db, companyId, [notification], now);
    });
    // The trigger that counts the log may have enqueued a job.
    services.wakeWorker();
  },
});

/** Ends the timer of an employee at the moment of their offboarding. */
const stopTimerOnOffboarding = handlerOf(employeeOffboarded, async (services, { companyId, employeeId, leftAt }) => {
  const left = new Date(leftAt);
  await inTransaction(services, companyId, async (db) => {
    // An employee who was restored since may have started another timer.
    const timer = await takeTimer(db, { companyId, employeeId, startedBy: left });
    if (timer) await endTimer(db, timer, { now: left, settings: services.settings });
  });
  services.wakeWorker();
});

export const handlers: AnyJobHandler[] = [timerOverdue, stopTimerOnOffboarding];
