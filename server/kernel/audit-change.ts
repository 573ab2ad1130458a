import type { NewEvent } from './append-event.ts';

/** The thing that a row of the audit log is about. */
export type Subject = { kind: string; id: number | null };

/**
 * What has changed of one thing. An update has the changed fields in `before` and `after`; of what was made only `after` is set,
 * of what was deleted only `before`.
 */
export type AuditChange = Subject & {
  event: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};

/** Notifications are each person's own, and so is what somebody has read. What comments say is noted as a digest. */
const leftOut = /^notification\.|^comment\.(seen|created|edited|deleted)$/;

/** The change that an event says; undefined if it is not audited. */
export function toChange({ type, payload, isCopy }: NewEvent): AuditChange | undefined {
  if (leftOut.test(type) || isCopy) return undefined;
  const [kind, verb] = type.split('.') as [string, string];
  const name = kind.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const { actorId: _, changes, [name]: record, ...others } = payload;
  const id = Number(payload[`${name}Id`] ?? payload[`${kind}_id`] ?? (record as { _id?: number } | undefined)?._id);
  const head = { event: type, kind, id: Number.isSafeInteger(id) ? id : null };
  if (changes !== undefined) return { ...head, ...splitChanges(changes as Changes) };
  const content = (record ?? others) as Record<string, unknown>;
  return verb === 'deleted' ? { ...head, before: content, after: null } : { ...head, before: null, after: content };
}

type Changes = Record<string, { before: unknown; after: unknown }>;

function splitChanges(changes: Changes): Pick<AuditChange, 'before' | 'after'> {
  const fields = Object.entries(changes);
  return {
    before: Object.fromEntries(fields.map(([name, { before }]) => [name, before])),
    after: Object.fromEntries(fields.map(([name, { after }]) => [name, after])),
  };
}
