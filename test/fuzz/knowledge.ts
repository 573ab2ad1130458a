import { z } from 'zod';
import { operationsOf } from '../../server/kernel/operations.ts';
import { identifiersIn, kindOf, unwrap, type Kind } from '../../server/kernel/wire/identifiers.ts';
import { appRouter } from '../../server/router.ts';
import type { Random } from './random.ts';

/*
 * The identifiers that answers have told, by what they name and by the company that was told, so that requests can name
 * things that are there, things of another company, and things that are nowhere.
 */

const kept = 40;
const missesMax = 4;

/** What the fields of an operation name, by their names. */
export type Kinds = ReadonlyMap<string, string>;

const operations = new Map(
  operationsOf(appRouter).map(({ name, input, output }) => [
    name,
    { output, kinds: new Map(input && identifiersIn(input).map((one) => [one.name, wordOf(one.kind)])) },
  ]),
);

/** A colleague is an employee. */
function wordOf(kind: Kind): string {
  return kind === 'colleague' ? 'employee' : kind;
}

export const kindsOf = (operation: string): Kinds => operations.get(operation)!.kinds;

export type Knowledge = {
  /** Takes the identifiers out of an answer. */
  learn(company: number, operation: string, value: unknown): void;
  /** Was told that there is no such thing: it may be somebody else's, and is forgotten only when that is told again. */
  miss(company: number, kind: string, identifier: number): void;
  /** An identifier of the given kind: of the company, of another one, or of none. */
  identifier(random: Random, company: number, kind: string): number;
};

export function createKnowledge(): Knowledge {
  const pools = new Map<string, number[]>();
  const missed = new Map<string, number>();
  const poolOf = (company: number, kind: string) => {
    const name = `${company} ${kind}`;
    let pool = pools.get(name);
    if (!pool) pools.set(name, (pool = []));
    return pool;
  };

  function add(company: number, kind: string, value: unknown): void {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return;
    const pool = poolOf(company, kind);
    if (pool.includes(value)) return;
    pool.push(value);
    if (pool.length > kept) pool.shift();
  }

  function walk(company: number, given: z.core.$ZodType, value: unknown): void {
    const schema = unwrap(given);
    const kind = kindOf(schema);
    if (kind !== undefined) add(company, wordOf(kind), value);
    else if (schema instanceof z.ZodUnion) for (const option of schema.options) walk(company, option, value);
    else if (schema instanceof z.ZodPipe) walk(company, schema.out, value);
    else if (schema instanceof z.ZodArray && Array.isArray(value))
      for (const one of value.slice(0, 50)) walk(company, schema.element, one);
    else if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null)
      for (const [field, part] of Object.entries(value))
        if (field in schema.shape) walk(company, schema.shape[field], part);
  }

  return {
    learn: (company, operation, value) => walk(company, operations.get(operation)!.output, value),
    miss(company, kind, identifier) {
      const pool = poolOf(company, kind);
      const at = pool.indexOf(identifier);
      if (at < 0) return;
      const name = `${company} ${kind} ${identifier}`;
      const times = (missed.get(name) ?? 0) + 1;
      missed.set(name, times);
      if (times >= missesMax) pool.splice(at, 1);
    },
    identifier(random, company, kind) {
      const whose = random.weighted({ own: 80, foreign: 10, any: 10 });
      const others = [...pools.keys()].filter((name) => name.endsWith(` ${kind}`) && !name.startsWith(`${company} `));
      const from =
        whose === 'own' ? poolOf(company, kind) : whose === 'foreign' ? others.flatMap((name) => pools.get(name)!) : [];
      return from.length > 0 ? random.pick(from) : random.int(1, 300);
    },
  };
}
