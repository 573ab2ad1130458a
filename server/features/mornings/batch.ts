import type { Settings } from '../../kernel/context.ts';
import type { NewNotification } from '../notifications/notify.ts';

/** So many are told in one transaction, however many tasks are due: nobody's own notifications wait for long. */
export const batchSize = 200;

/** What a batch is read from: whose morning it is, and after which task and person the last batch ended. */
export type Position = {
  companyId: number;
  day: string;
  afterTaskId: number;
  afterEmployeeId: number;
  settings: Settings;
};

/** A notification, and the task after which the next batch begins when this is the last one of its own. */
export type MorningNotice = { notification: NewNotification; taskId: number };
