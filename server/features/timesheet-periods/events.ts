import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { changeEvent, recordChange, type ChangeEvent } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { PeriodHead, type TimesheetPeriod } from './schemas.ts';

const fields = { periodId: PeriodHead.shape._id, period: PeriodHead };

export const periodSubmitted = changeEvent('period.submitted', 'Time of a period was handed in.', fields);

export const periodDecided = changeEvent(
  'period.decided',
  'A period was approved or rejected: by somebody, or by the policy where no approval is required.',
  fields,
);

export const periodReopened = changeEvent(
  'period.reopened',
  'A period is open again: it was withdrawn, or an admin has reopened it.',
  fields,
);

type PeriodEvent = ChangeEvent<string, typeof fields>;
type Period = z.input<typeof TimesheetPeriod>;

/** Records what has happened to a period. Its time is not in the event, which would be too long with it. */
export function recordPeriod(
  db: Db,
  event: PeriodEvent,
  { companyId, actorId, period, at }: { companyId: number; actorId: number | null; period: Period; at: Date },
): void {
  const payload = { actorId, periodId: period._id, period };
  recordChange(db, event, { companyId, streams: [changeStream.periods(companyId)], payload, at });
}
