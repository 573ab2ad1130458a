import { describe, expect, test } from 'vitest';
import { operationsOf } from '../../server/kernel/operations.ts';
import { parserOf } from '../../server/kernel/parser.ts';
import { appRouter } from '../../server/router.ts';
import { leavesOf, replaceAt, sampleOf, withSuperfluous } from '../support/samples.ts';

type Outcome = { value: unknown } | { refused: true };

/** What comes of a value, as it goes over the wire. */
function outcomeOf(parse: (value: unknown) => unknown, value: unknown): Outcome {
  try {
    return { value: JSON.stringify(parse(value)) };
  } catch {
    return { refused: true };
  }
}

const outputs = operationsOf(appRouter).map(({ name, output }) => [name, output] as const);
// What no field of any answer may be, and what only some may be.
const others = [undefined, null, '', 'text', 0, -1, 1.5, Number.NaN, true, {}, [], new Date(Number.NaN), () => 1, 10n];

describe.each(outputs)('the answer of %s', (_name, schema) => {
  const sample = sampleOf(schema);
  const parse = parserOf(schema);

  test('is what its schema makes of it', () => {
    expect(outcomeOf(parse, sample)).toEqual(outcomeOf((value) => schema.parse(value), sample));
    expect(outcomeOf(parse, sample)).toHaveProperty('value');
  });

  test('holds nothing that is not declared', () => {
    const told = outcomeOf(parse, withSuperfluous(schema, sample));
    expect(told).toEqual(outcomeOf(parse, sample));
    expect(JSON.stringify(told)).not.toContain('leaked');
  });

  test('is refused where a field is what it may not be, and only there', () => {
    for (const path of leavesOf(sample)) {
      for (const other of others) {
        const wrong = replaceAt(sample, path, other);
        expect([path, other, outcomeOf(parse, wrong)]).toEqual([
          path,
          other,
          outcomeOf((value) => schema.parse(value), wrong),
        ]);
      }
    }
  });

  test('is refused where it is something else altogether', () => {
    for (const other of others)
      expect(outcomeOf(parse, other)).toEqual(outcomeOf((value) => schema.parse(value), other));
  });
});
