import { invalid } from '../../errors/errors.ts';

/**
 * The deepest nesting of a body. No operation needs more than five levels, and recursion over a body never overflows
 * the stack.
 */
const levelsMax = 64;

/** Refuses a value that nests deeper than any operation needs. */
export function checkDepth(value: unknown, levels = levelsMax): void {
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0) throw invalid([], `must nest at most ${levelsMax} levels deep`, 'too_deep');
  if (Array.isArray(value)) for (const item of value) checkDepth(item, levels - 1);
  else for (const name in value) checkDepth((value as Record<string, unknown>)[name], levels - 1);
}

/** Returns the same text for equal JSON values, in whatever order their objects name the fields. */
export function canonicalJson(value: unknown): string {
  checkDepth(value);
  return write(value);
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const sorted = fields.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, field]) => `${JSON.stringify(name)}:${write(field)}`).join()}}`;
}
