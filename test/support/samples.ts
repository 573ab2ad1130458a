import { z } from 'zod';

/** A value that a schema takes, with every optional field and one element in every list; `depth` ends recursion. */
export function sampleOf(schema: z.core.$ZodType, depth = 0): unknown {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape);
    return Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field, depth + 1)]));
  }
  if (schema instanceof z.ZodArray) return depth > 5 ? [] : [sampleOf(schema.element, depth + 1)];
  if (schema instanceof z.ZodUnion) return sampleOf(schema.options[0]!, depth);
  if (schema instanceof z.ZodPipe) return sampleOf(schema.in, depth);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return sampleOf(schema.unwrap(), depth);
  if (schema instanceof z.ZodLiteral) return schema.value;
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodRecord)
    return { [String(sampleOf(schema.keyType))]: sampleOf(schema.valueType, depth + 1) };
  if (schema instanceof z.ZodBoolean) return true;
  if (schema instanceof z.ZodNumber) return Math.max(1, schema.minValue ?? 1);
  if (schema instanceof z.ZodDate) return new Date(0);
  if (schema instanceof z.ZodNull) return null;
  // A text that is a moment, a day and a word at once is not to be had: try what the schema itself gives for example.
  const [example] = z.globalRegistry.get(schema)?.examples ?? [];
  const texts = [
    example,
    'text',
    '2026-03-01',
    '2026-03-01T09:00:00.000Z',
    'ada@example.com',
    'https://example.com',
    '1',
  ];
  const fitting = texts.find((text) => text !== undefined && z.safeParse(schema, text).success);
  if (fitting === undefined) throw new Error(`no sample for a ${schema._zod.def.type}`);
  return fitting;
}

type Path = (string | number)[];

/** The places in a value of everything that is not itself an object or a list. */
export function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [path];
  if (Array.isArray(value)) return value.flatMap((one, index) => leavesOf(one, [...path, index]));
  return Object.entries(value).flatMap(([name, one]) => leavesOf(one, [...path, name]));
}

/** A copy of a value with something else at one place. */
export function replaceAt(value: unknown, [first, ...rest]: Path, other: unknown): unknown {
  if (first === undefined) return other;
  if (Array.isArray(value)) return value.map((one, index) => (index === first ? replaceAt(one, rest, other) : one));
  return { ...(value as object), [first]: replaceAt((value as Record<string, unknown>)[first], rest, other) };
}

/** A copy of a schema's value with fields too many in every object but those that hold any field. */
export function withSuperfluous(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape);
    const its = fields.map(([name, field]) => [name, withSuperfluous(field, (value as Record<string, unknown>)[name])]);
    return { password_hash: 'leaked', ...Object.fromEntries(its), toJSON: undefined, undeclared: { nested: 'leaked' } };
  }
  if (schema instanceof z.ZodArray)
    return (value as unknown[]).map((element) => withSuperfluous(schema.element, element));
  if (schema instanceof z.ZodUnion) return withSuperfluous(schema.options[0]!, value);
  if (schema instanceof z.ZodPipe) return withSuperfluous(schema.in, value);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return withSuperfluous(schema.unwrap(), value);
  return value;
}
