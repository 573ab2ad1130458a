import { definitionOf, proceduresOf as routerProcedures } from '../../server/kernel/definitions.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import { choiceOf, mediaTypes, type FileFormat } from '../../server/kernel/wire/download.ts';
import type { OperationMeta } from '../../server/kernel/operation.ts';
import type { Schema } from './types.ts';

export type Kind = 'query' | 'mutation' | 'subscription';

/** A procedure of the router for its callers. */
export type Procedure = {
  /** Its name in the router, such as `taskLogs.create`. */
  name: string;
  kind: Kind;
  meta: OperationMeta;
  /** Absent if it takes none. */
  input: Schema | undefined;
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
    return {
      name,
      kind: type,
      meta,
      input: input && withoutField(toSchema(input, 'input'), choice && downloadField),
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
