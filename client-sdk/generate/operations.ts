import { definitionOf, proceduresOf as routerProcedures } from '../../server/kernel/definitions.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import { choiceOf, mediaTypes, type FileFormat } from '../../server/kernel/wire/download.ts';
import type { OperationMeta } from '../../server/kernel/operation.ts';
import { identifiersIn, isOwnId, kindOf, type Kind as IdentifierKind } from '../../server/kernel/wire/identifiers.ts';
import type { Schema } from './types.ts';

export type Kind = 'query' | 'mutation' | 'subscription';

/** A procedure of the router for its callers. */
export type Procedure = {
  /** Its name in the router, such as `taskLogs.create`. */
  name: string;
  kind: Kind;
  meta: OperationMeta;
  /** Absent if it takes none. Of its required fields those of the session are optional here. */
  input: Schema | undefined;
  /** The required fields that the client fills from its session: with its company, or with its employee. */
  fromSession: Map<string, 'company' | 'employee'>;
  /** What the identifiers among its fields identify; those of a list are all of one kind. */
  kinds: Map<string, IdentifierKind>;
  /** Its answer, or each of its events. */
  output: Schema;
  /** The formats of the files that it answers on request, with their media types. */
  downloads: { format: FileFormat; mediaType: string }[];
};

/** The field that requests a file; over tRPC, which has no files, it has no effect. */
const downloadField = 'format';

export function proceduresOf(router: AnyTRPCRouter): Procedure[] {
  return [...routerProcedures(router)].map(([name, procedure]) => {
    const { type, meta = {}, inputs, output } = definitionOf(procedure);
    const choice = output && choiceOf(output);
    const answer = choice?.answer ?? output ?? eventsOf(name, meta);
    const [input] = inputs;
    const fromSession = sessionFieldsOf(input, meta);
    const schema = input && withoutField(toSchema(input, 'input'), choice && downloadField);
    return {
      name,
      kind: type,
      meta,
      input: schema && { ...schema, required: schema.required?.filter((one) => !fromSession.has(one)) ?? [] },
      fromSession,
      kinds: kindsIn(input),
      output: toSchema(answer, 'output'),
      downloads: (Object.keys(choice?.files ?? {}) as FileFormat[]).map((format) => ({
        format,
        mediaType: mediaTypes[format],
      })),
    };
  });
}

function eventsOf(name: string, { events }: OperationMeta): z.ZodType {
  if (!events) throw new Error(`${name} does not say what it answers`);
  // The answer to a position that only the client uses, and consumed by it.
  return z.union(events.schema.options.filter((option) => option.meta()?.id !== 'stream.opened'));
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  return z.toJSONSchema(schema, { io }) as Schema;
}

function withoutField(schema: Schema, field: string | undefined): Schema {
  if (field === undefined || !schema.properties) return schema;
  const { [field]: _, ...properties } = schema.properties;
  return { ...schema, properties };
}

function kindsIn(input: z.ZodType | undefined): Procedure['kinds'] {
  const own = input ? identifiersIn(input).filter(({ steps }) => steps.length === 1 || steps.at(1) === '[]') : [];
  return new Map(own.filter(({ steps }) => steps.length <= 2).map(({ steps, kind }) => [steps[0]!, kind]));
}

/** Before a sign-in there is no session: open operations have none of these fields. */
function sessionFieldsOf(input: z.ZodType | undefined, { access }: OperationMeta): Procedure['fromSession'] {
  const fields = new Map<string, 'company' | 'employee'>();
  if (!(input instanceof z.ZodObject) || (access !== 'member' && access !== 'admin')) return fields;
  for (const [name, field] of Object.entries<z.core.$ZodType>(input.shape)) {
    if (field._zod.optin === 'optional') continue;
    if (kindOf(field) === 'company') fields.set(name, 'company');
    else if (isOwnId(field)) fields.set(name, 'employee');
  }
  return fields;
}
