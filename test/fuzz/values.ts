import type { ApiDocument, Schema } from './document.ts';
import type { Kinds, Knowledge } from './knowledge.ts';
import type { Random } from './random.ts';

/** Text that a service of the world gets: scripts, marks, formulas, queries, and what looks like something else. */
const words = [
  'Cut the gears',
  'Ünïcödé ﷽ 漢字 Ελληνικά',
  '👩🏽‍🚀 emoji 🏳️‍🌈',
  'e\u0301 combining, \u200fright to left\u202e',
  '<b>bold</b> <script>alert(1)</script> <img src=x onerror=alert(1)>',
  'if (x<y) { z>w } && "quoted" \'single\'',
  "'; drop table employees; --",
  '%00 %s {{7*7}} ${7*7} \\ \\u0000',
  '=1+1',
  '@grace@example.com and @nobody',
  'null',
  'true',
  '0',
  '-1',
  '  spaces around  ',
  'line\nbreak\ttab',
  '__proto__',
  'constructor',
  'a',
  '\u{10ffff}\ufeff',
];

export type ValueContext = {
  random: Random;
  document: ApiDocument;
  knowledge: Knowledge;
  /** What the fields of the operation name. */
  kinds: Kinds;
  company: number;
  /** The identifiers that this request names already: its parts mostly speak of the same thing. */
  named: Map<string, number>;
  /** Where this request's moments have come to: each is later than the one before. */
  minutes: { at: number };
  emails: string[];
};

export function contextualIdentifier(context: ValueContext, kind: string): number {
  const { random, knowledge, company, named } = context;
  const before = named.get(kind);
  if (before !== undefined && random.chance(0.9)) return before;
  const found = knowledge.identifier(random, company, kind);
  named.set(kind, found);
  return found;
}

/** A value that the schema accepts, if the schema can express it. */
export function valueFor(context: ValueContext, given: Schema, name: string, example: unknown): unknown {
  const { random, document } = context;
  const { schema } = document.resolve(given);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return valueFor(context, random.pick(options) as Schema, name, example);
  if (schema.const !== undefined) return schema.const;
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  if (type === 'null') return null;
  if (schema.enum) return example !== undefined && random.chance(0.4) ? example : random.pick(schema.enum);
  switch (type) {
    case 'object':
      return objectFor(context, schema, example);
    case 'array': {
      const length = Math.min(Math.max(schema.minItems ?? 0, random.pick([0, 1, 1, 2, 3])), schema.maxItems ?? 3);
      const first = Array.isArray(example) ? (example as unknown[])[0] : undefined;
      return Array.from({ length }, () => valueFor(context, (schema.items ?? {}) as Schema, name, first));
    }
    case 'boolean':
      return random.chance(0.5);
    case 'integer':
    case 'number':
      return numberFor(context, schema, name, type, example);
    case 'string':
      return textFor(context, schema, example);
    default:
      return random.pick([null, true, 1, 'text', [], {}]);
  }
}

function objectFor(context: ValueContext, schema: Schema, example: unknown): Record<string, unknown> {
  const { random } = context;
  const required = new Set(schema.required ?? []);
  const examples = (typeof example === 'object' && example !== null ? example : {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .filter(([name]) => required.has(name) || random.chance(0.55))
      .map(([name, property]) => [name, valueFor(context, property as Schema, name, examples[name])]),
  );
}

function numberFor(context: ValueContext, schema: Schema, name: string, type: string, example: unknown): number {
  const { random, kinds } = context;
  const kind = kinds.get(name);
  if (kind !== undefined && type === 'integer') return contextualIdentifier(context, kind);
  if (typeof example === 'number' && random.chance(0.6)) return example;
  const { minimum = -1000, maximum = 100_000 } = schema;
  const bounds = [schema.minimum, schema.maximum].filter((bound) => bound !== undefined);
  if (bounds.length > 0 && random.chance(0.2)) return random.pick(bounds);
  const whole = random.int(Math.max(minimum, -1e9), Math.min(maximum, 1e9));
  return type === 'integer' || random.chance(0.5) ? whole : Math.min(whole + random.pick([0.005, 0.1, 0.333]), maximum);
}

const firstMinute = Date.UTC(2026, 0, 1) / 60_000;

function textFor(context: ValueContext, schema: Schema, example: unknown): string {
  const { random, minutes, emails } = context;
  const { format, minLength = 0, maxLength = 200 } = schema;
  if (format === 'date-time' || format === 'date') {
    if (typeof example === 'string' && random.chance(0.3)) return example;
    if (minutes.at === 0) minutes.at = firstMinute + random.int(0, 60 * 24 * 60);
    minutes.at += random.int(1, format === 'date' ? 5000 : 600);
    const text = new Date(minutes.at * 60_000).toISOString();
    return format === 'date' ? text.slice(0, 10) : text.replace('.000Z', random.pick(['Z', '.5Z', '+05:30', '.000Z']));
  }
  if (format === 'email' || (typeof example === 'string' && example.includes('@example'))) {
    const fresh = `fuzz${random.int(1, 1e9)}@example.com`;
    return random.pick([fresh, fresh, random.pick(emails), typeof example === 'string' ? example : fresh]);
  }
  if (typeof example === 'string' && random.chance(0.5)) return example;
  const [known] = (schema.examples ?? []) as unknown[];
  if (typeof known === 'string' && random.chance(0.7)) return known;
  if (format === 'uri') return `https://files.example.com/${random.int(1, 999)}.png`;
  if (random.chance(0.04)) return 'x'.repeat(Math.min(maxLength, 20_000));
  const word = random.pick(words);
  return word.length < minLength ? word.padEnd(minLength, '7') : word.slice(0, maxLength).toWellFormed();
}
