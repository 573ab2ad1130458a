import { validationFailed } from '../../errors/errors.ts';

/** Bodies nest at most this deep: no operation takes more than five levels, and what walks a body never runs out of stack. */
const levelsMax = 64;

/** Refuses a value whose arrays and objects nest deeper than any operation takes. */
export function checkDepth(value: unknown, levels = levelsMax): void {
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0)
    throw validationFailed([{ path: [], message: `must nest at most ${levelsMax} levels deep`, code: 'too_deep' }]);
  if (Array.isArray(value)) for (const item of value) checkDepth(item, levels - 1);
  else for (const name in value) checkDepth((value as Record<string, unknown>)[name], levels - 1);
}

/** The same text for the same JSON value, in whatever order its objects name their fields. */
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
