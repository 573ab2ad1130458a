import { sql } from 'kysely';
import { compiled } from '../../db/pipeline/compiled.ts';
import type { Db } from '../../db/open.ts';
import { inCompany, transactionOf } from '../../db/scope.ts';
import { noteEvent } from './audit-log.ts';
import { noteAppended, noteMessages } from './commit-signals.ts';
import { streamKey } from './streams.ts';

/*
 * Events are rows that are written in the transaction of their cause. There are two ways: `recordEvent` keeps an event
 * until the transaction commits and writes it right before that, so that the row lock of its stream is held as briefly as
 * possible; `appendEvent` writes it at once, for what must happen under that lock, such as counting.
 *
 * The statement that writes an event also writes its messages for the webhooks of the company that want its type. A webhook
 * is locked against its deletion, which could otherwise be committed between reading it and referring to it.
 */

/** An event of a company, for the subscribers of one stream. */
export type NewEvent = {
  companyId: number;
  /** `task 12` for the comments on a task, `recipient 7` for a person's notifications, `project 5` for its tasks. */
  stream: string;
  type: string;
  payload: Record<string, unknown>;
  at: Date;
  /** The same change in a further stream, for its subscribers only: webhooks and the audit log have it already. */
  isCopy?: boolean;
};

/**
 * Appends an event to its stream, in the transaction of its cause; returns its sequence number. Sequence numbers are taken
 * under the stream's row lock, so they have no gaps and are in the order of commits.
 */
export async function appendEvent(db: Db, event: NewEvent): Promise<number> {
  noteEvent(db, event);
  return write(db, event);
}

async function write(db: Db, event: NewEvent): Promise<number> {
  const { companyId, stream, type, payload, at, isCopy = false } = event;
  const [row] = await writeEvent(db, { companyId, stream, type, payload: JSON.stringify(payload), at, isCopy });
  noteAppended(db, streamKey(companyId, stream));
  if (row!.messages > 0) noteMessages(db);
  return row!.sequence;
}

/** Appends events to streams of one company in one statement; the events of a stream in the given order. */
export async function appendEvents(
  db: Db,
  companyId: number,
  events: readonly Omit<NewEvent, 'companyId'>[],
): Promise<void> {
  for (const event of events) noteEvent(db, { companyId, ...event });
  await writeAll(db, companyId, events);
}

async function writeAll(db: Db, companyId: number, events: readonly Omit<NewEvent, 'companyId'>[]): Promise<void> {
  const { rows } = await sql<{ messages: number }>`
    with given as materialized (
      select stream, type, payload, at, is_copy, position,
        row_number() over (partition by stream order by position) - count(*) over (partition by stream) as from_last
      from unnest(
        ${events.map(({ stream }) => stream)}::text[], ${events.map(({ type }) => type)}::text[],
        ${events.map(({ payload }) => JSON.stringify(payload))}::text[], ${events.map(({ at }) => at)}::timestamptz[],
        ${events.map(({ isCopy = false }) => isCopy)}::boolean[]
      ) with ordinality as events (stream, type, payload, at, is_copy, position)
    ), taken as (
      insert into event_streams as s (company_id, stream, last_sequence)
      select ${companyId}::bigint, stream, count(*) from given group by stream order by stream
      on conflict (company_id, stream) do update set last_sequence = s.last_sequence + excluded.last_sequence
      returning stream, last_sequence
    ), numbered as (
      select stream, last_sequence + from_last as sequence, type, payload::jsonb as payload, at, is_copy, position
      from given join taken using (stream)
    ), written as (
      insert into events (company_id, stream, sequence, type, payload, at)
      select ${companyId}::bigint, stream, sequence, type, payload, at from numbered
    ), messages as (
      insert into webhook_messages (company_id, webhook_id, type, stream, sequence, payload, at, due_at)
      select w.company_id, w.webhook_id, e.type, e.stream, e.sequence, e.payload, e.at, e.at
      from numbered as e join webhooks as w on w.company_id = ${companyId}::bigint and w.is_enabled and e.type = any(w.events)
      where not e.is_copy
      order by e.position for key share of w
      returning 1
    )
    select count(*) as messages from messages`.execute(db);
  for (const { stream } of events) noteAppended(db, streamKey(companyId, stream));
  if (rows[0]!.messages > 0) noteMessages(db);
}

const recordedIn = new WeakMap<Db, NewEvent[]>();

/**
 * Appends an event to its stream when the transaction commits, in the order of the calls. It may be called until the last
 * statements of the transaction are sent.
 */
export function recordEvent(db: Db, event: NewEvent): void {
  noteEvent(db, event);
  const transaction = transactionOf(db);
  const recorded = recordedIn.get(transaction);
  if (recorded) recorded.push(event);
  else recordedIn.set(transaction, [event]);
}

/** The types of the events that were recorded in a transaction and are not written yet. */
export function recordedTypes(db: Db): string[] {
  return (recordedIn.get(transactionOf(db)) ?? []).map(({ type }) => type);
}

/** The statements that write what was recorded in a transaction: its last ones, for {@link LazyTransaction.commitBehind}. */
export function takeRecordedEvents(db: Db): (() => Promise<unknown>)[] {
  const recorded = recordedIn.get(transactionOf(db)) ?? [];
  recordedIn.delete(transactionOf(db));
  const [event, ...others] = recorded;
  if (event === undefined) return [];
  if (others.length === 0) return [() => write(inCompany(db, event.companyId), event)];
  // In the order of companies, as the streams of one are locked in the order of their names.
  return [...Map.groupBy(recorded, ({ companyId }) => companyId)]
    .toSorted(([one], [other]) => one - other)
    .map(
      ([companyId, events]) =>
        () =>
          writeAll(inCompany(db, companyId), companyId, events),
    );
}

type EventValues = Required<Omit<NewEvent, 'payload'>> & { payload: string };

const writeEvent = compiled<EventValues, { sequence: number; messages: number }>((db, placeholder) =>
  sql<{ sequence: number; messages: number }>`
    with taken as (
      insert into event_streams as s (company_id, stream, last_sequence)
      values (${placeholder('companyId')}, ${placeholder('stream')}, 1)
      on conflict (company_id, stream) do update set last_sequence = s.last_sequence + 1
      returning last_sequence
    ), written as (
      insert into events (company_id, stream, sequence, type, payload, at)
      select ${placeholder('companyId')}, ${placeholder('stream')}, last_sequence, ${placeholder('type')}, ${placeholder('payload')}::jsonb, ${placeholder('at')}
      from taken
      returning stream, sequence, type, payload, at
    ), messages as (
      insert into webhook_messages (company_id, webhook_id, type, stream, sequence, payload, at, due_at)
      select w.company_id, w.webhook_id, e.type, e.stream, e.sequence, e.payload, e.at, e.at
      from webhooks as w cross join written as e
      where w.company_id = ${placeholder('companyId')} and w.is_enabled and e.type = any(w.events) and not ${placeholder('isCopy')}
      for key share of w
      returning 1
    )
    select sequence, (select count(*) from messages) as messages from written`.compile(db),
);
