import type { Settings } from '../../kernel/context.ts';
import type { NewNotification } from '../notifications/notify.ts';

/** The most notifications per transaction, so that many due tasks do not block other notifications for long. */
export const batchSize = 200;

/** The start of a batch: the company's morning, and the task and person with which the last batch ended. */
export type Position = {
  companyId: number;
  day: string;
  afterTaskId: number;
  afterEmployeeId: number;
  settings: Settings;
};

/** A notification, and the task after which the next batch begins if this is the last one of its batch. */
export type MorningNotice = { notification: NewNotification; taskId: number };
