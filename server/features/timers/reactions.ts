import { z } from 'zod';
import { reaction, type AnyReaction } from '../../kernel/reaction.ts';
import { id } from '../../kernel/wire.ts';
import { notify } from '../notifications/notify.ts';
import { closeOverdueTimer, closeTimer } from './close-timer.ts';
import { takeTimer } from './queries.ts';

/**
 * Due when a timer has run 24 hours: closes it where it still runs, and tells its owner. Written when the timer
 * starts; whoever stops theirs in time, or starts another one since, is left alone.
 */
export const timerOverdue = reaction({
  name: 'timer-overdue',
  payload: z.object({ companyId: id, employeeId: id }),
  async run({ database, clock, settings, wakeDeliveries }, { companyId, employeeId }) {
    const now = clock.now();
    const transaction = database.forCompany(companyId).begin();
    const { db } = transaction;
    try {
      const log = await closeOverdueTimer(db, { companyId, employeeId, now });
      if (log) {
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
      }
      await transaction.commit();
      wakeDeliveries();
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  },
});

/** Written when an employee is deactivated or deleted: their timer stops at that moment, and its time is logged. */
export const timerOfLeaver = reaction({
  name: 'timer-of-leaver',
  payload: z.object({ companyId: id, employeeId: id, leftAt: z.iso.datetime() }),
  async run({ database, wakeDeliveries }, { companyId, employeeId, leftAt }) {
    const left = new Date(leftAt);
    const transaction = database.forCompany(companyId).begin();
    const { db } = transaction;
    try {
      // Whoever is back by now may have started another one since.
      const timer = await takeTimer(db, { companyId, employeeId, startedBy: left });
      if (timer) await closeTimer(db, timer, left);
      await transaction.commit();
      wakeDeliveries();
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  },
});

/** What this feature owes the outside because of its facts. */
export const reactions: AnyReaction[] = [timerOverdue, timerOfLeaver];
