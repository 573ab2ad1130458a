import { z } from 'zod';

/*
 * A parser, compiled once from a schema: it checks the value, copies declared fields and drops all others. Zod compiles
 * all schemas except recursive ones, such as a comment with its replies; of these the parts are compiled and combined
 * here. An invalid value is parsed again by the schema itself, which says why.
 */

export type Parser = (value: unknown) => unknown;

/** A parser of `schema`, compiled at first use. */
export function parserOf(schema: z.ZodType): Parser {
  let made: Parser | undefined;
  return (value) => {
    made ??= make(schema, new Map());
    return made(value);
  };
}

function make(schema: z.ZodType, parents: ReadonlyMap<z.ZodType, () => Parser>): Parser {
  const parent = parents.get(schema);
  if (parent) return (value) => parent()(value);
  const whole = compileWhole(schema);
  if (whole) return whole;
  let made: Parser;
  const within = new Map(parents).set(schema, () => made);
  made = (schema instanceof z.ZodObject && makeObject(schema, within)) || makeArray(schema, within) || fallBack(schema);
  return made;
}

function compileWhole(schema: z.ZodType): Parser | undefined {
  try {
    const compiled = z.compile(schema, { strict: true });
    return (value) => compiled.parse(value);
  } catch {
    return undefined;
  }
}

const fallBack =
  (schema: z.ZodType): Parser =>
  (value) =>
    schema.parse(value);

function makeArray(schema: z.ZodType, within: ReadonlyMap<z.ZodType, () => Parser>): Parser | undefined {
  if (!(schema instanceof z.ZodArray) || (schema.def.checks ?? []).length > 0) return undefined;
  const element = make(schema.element as z.ZodType, within);
  return (value) => (Array.isArray(value) ? value.map(element) : schema.parse(value));
}

/** Parses recursive fields one by one, and all others as one compiled object. */
function makeObject(schema: z.ZodObject, within: ReadonlyMap<z.ZodType, () => Parser>): Parser | undefined {
  if (schema.def.catchall || (schema.def.checks ?? []).length > 0) return undefined;
  const fields = Object.entries<z.ZodType>(schema.shape);
  const compiled = new Set(fields.filter(([, field]) => compileWhole(field)).map(([name]) => name));
  const plain = compileWhole(z.object(Object.fromEntries(fields.filter(([name]) => compiled.has(name)))));
  if (!plain) return undefined;
  const others = fields
    .filter(([name]) => !compiled.has(name))
    .map(([name, field]) => [name, make(field, within)] as const);
  return (value) => {
    const copy = plain(value) as Record<string, unknown>;
    for (const [name, parse] of others) copy[name] = parse((value as Record<string, unknown>)[name]);
    return copy;
  };
}
