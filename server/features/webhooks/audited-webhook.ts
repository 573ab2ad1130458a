import type { Db } from '../../../db/open.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import type { WebhookRow } from './queries.ts';

type Shown = Record<string, unknown>;

/** What the audit log shows of a webhook: of its URL the origin, because the rest may be a secret. */
function shownOf({ url, events, description, is_enabled: isEnabled }: WebhookRow): Shown {
  return { origin: new URL(url).origin, events, description, isEnabled };
}

/** Notes for the audit log that a webhook was created or deleted, or which of its fields have changed. */
export function noteWebhook(
  db: Db,
  verb: 'created' | 'updated' | 'deleted',
  rows: { before?: WebhookRow; after?: WebhookRow },
): void {
  const { company_id: companyId, webhook_id: id } = (rows.after ?? rows.before)!;
  const before = rows.before ? shownOf(rows.before) : null;
  const after = rows.after ? shownOf(rows.after) : null;
  const hasChanged = (field: string) => JSON.stringify(before?.[field]) !== JSON.stringify(after?.[field]);
  const changed = (shown: Shown | null): Shown | null =>
    shown && Object.fromEntries(Object.entries(shown).filter(([field]) => hasChanged(field)));
  const change = { event: `webhook.${verb}`, kind: 'webhook', id };
  noteChange(db, companyId, { ...change, before: changed(before), after: changed(after) });
}

/** Notes that a webhook has another secret. */
export function noteRotation(db: Db, { company_id: companyId, webhook_id: id }: WebhookRow): void {
  noteChange(db, companyId, { event: 'webhook.secret_rotated', kind: 'webhook', id, before: null, after: null });
}
