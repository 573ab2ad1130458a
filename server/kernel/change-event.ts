import { z } from 'zod';
import type { Db } from '../../db/open.ts';
import { recordEvent } from './append-event.ts';
import { parserOf, type Parser } from './parser.ts';
import { eventFields } from './streams.ts';
import { id } from './wire/fields.ts';

/*
 * A change event says what an operation has changed: the record as it is afterwards, or as it was before a deletion, and the
 * changed fields. Subscribers, webhooks and the audit log receive the same payload. It holds everything that they need, so
 * nothing is looked up at delivery. Invariants:
 *
 * - A payload holds the fields of its schema and no others, so that no secret gets in by accident.
 * - It has less than 64 KiB as JSON: longer texts are cut to `textMax` characters, lists are short by the rules of their records.
 * - An update that changes nothing has no event.
 */

/** The most UTF-16 units of a text in an event. */
const textMax = 1_000;

/** The fields of every change event. */
const common = {
  actorId: id.nullable().meta({ description: 'The employee who did it; null where the service did' }),
  truncated: z.boolean().meta({
    description: `Whether a text in it was cut to its first ${textMax.toLocaleString('en')} characters: read the record for the whole one`,
  }),
};

/** A change event: its type, what it means, and its payload. */
export type ChangeEvent<Type extends string = string, Shape extends z.ZodRawShape = z.ZodRawShape> = {
  type: Type;
  description: string;
  /** What webhooks receive as `data`. */
  payload: z.ZodObject<Shape & typeof common>;
  /** What subscribers receive: its number, type and time, then the payload. */
  streamEvent: z.ZodObject<ReturnType<typeof eventFields<Type>> & Shape & typeof common>;
  parse: Parser;
};

/** Declares a change event; `shape` has the fields of its payload beside the common ones. */
export function changeEvent<const Type extends string, const Shape extends z.ZodRawShape>(
  type: Type,
  description: string,
  shape: Shape,
): ChangeEvent<Type, Shape> {
  const payload = z.object({ ...shape, ...common });
  const streamEvent = z.object({ ...eventFields(type), ...shape, ...common }).meta({ id: type, description });
  return { type, description, payload, streamEvent, parse: parserOf(payload) };
}

type Change<Field extends z.ZodType> = z.ZodOptional<z.ZodObject<{ before: Field; after: Field }>>;

/** The schema of `changes`: for each changed field its value before and after. */
export function changesOf<const Shape extends Record<string, z.ZodType>>(fields: Shape) {
  const changes = Object.entries(fields).map(([name, field]) => [
    name,
    z.object({ before: field, after: field }).optional(),
  ]);
  return z
    .object(Object.fromEntries(changes) as { [Name in keyof Shape]: Change<Shape[Name]> })
    .meta({ description: 'The fields that have changed, and no others' });
}

type Values<Shape extends Record<string, z.ZodType>> = { [Name in keyof Shape]: z.input<Shape[Name]> };

/** Those of the fields that differ, with both values; undefined if none does. */
export function findChanges<const Shape extends Record<string, z.ZodType>>(
  fields: Shape,
  before: Values<Shape>,
  after: Values<Shape>,
): z.input<ReturnType<typeof changesOf<Shape>>> | undefined {
  const differs = (name: keyof Shape) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const names = Object.keys(fields).filter(differs);
  if (names.length === 0) return undefined;
  const changes = names.map((name) => [name, { before: before[name], after: after[name] }]);
  return Object.fromEntries(changes) as z.input<ReturnType<typeof changesOf<Shape>>>;
}

/** What the caller says of a change: `truncated` is found out. */
type Payload<Shape extends z.ZodRawShape> = Omit<z.input<z.ZodObject<Shape & typeof common>>, 'truncated'>;

/**
 * Records a change: its event is appended to these streams with the commit. A change that belongs to several streams is one
 * event in each; in all but the first it is a copy, which webhooks and the audit log leave out.
 */
export function recordChange<Type extends string, Shape extends z.ZodRawShape>(
  db: Db,
  event: ChangeEvent<Type, Shape>,
  { companyId, streams, payload, at }: ChangeOf<Shape>,
): void {
  const parsed = event.parse({ ...payload, truncated: false }) as Record<string, unknown>;
  const stored = hasLongText(parsed) ? { ...(cutTexts(parsed) as typeof parsed), truncated: true } : parsed;
  for (const [index, stream] of streams.entries())
    recordEvent(db, { companyId, stream, type: event.type, payload: stored, at, isCopy: index > 0 });
}

type ChangeOf<Shape extends z.ZodRawShape> = {
  companyId: number;
  streams: readonly string[];
  payload: Payload<Shape>;
  at: Date;
};

function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > textMax;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongText);
}

function cutTexts(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value, textMax);
  if (Array.isArray(value)) return value.map(cutTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cutTexts(part)]));
}

/** The beginning of a text, without half a character at its end: PostgreSQL refuses that. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}
