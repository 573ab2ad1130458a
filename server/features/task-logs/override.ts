import { z } from 'zod';
import { overrideLocks } from '../../../db/derived/period-locks.ts';
import type { Db } from '../../../db/open.ts';
import { ADMIN_REQUIRED, invalid } from '../../errors/errors.ts';
import { requiredMessage } from '../../errors/issues.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import type { Member } from '../../kernel/context.ts';
import { text } from '../../kernel/wire/fields.ts';

/** How an admin changes a log of a locked day. */
export const overrideFields = {
  override: z
    .boolean()
    .optional()
    .meta({ description: 'true changes locked days too, for admins, with a `reason`', examples: [false] }),
  reason: text({ max: 1_000 })
    .optional()
    .meta({
      description: 'Why locked days are changed: kept in the audit log',
      examples: ['Agreed with the customer'],
    }),
};

type Given = { taskLogId: number; override?: boolean; reason?: string };

/** Lets the transaction change locked days where an admin asks for it, and notes why. */
export async function overrideLockedDays(
  db: Db,
  caller: Member,
  { taskLogId, override, reason }: Given,
): Promise<void> {
  if (override !== true) return;
  if (!caller.isAdmin) throw ADMIN_REQUIRED({ detail: 'Only an admin of the company may override locked days.' });
  if (reason === undefined) throw invalid(['reason'], requiredMessage, 'required');
  await overrideLocks(db);
  const change = { event: 'period.overridden', kind: 'task_log', id: taskLogId, before: null, after: { reason } };
  noteChange(db, caller.companyId, change);
}
