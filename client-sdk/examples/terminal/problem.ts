/** What keeps a script from going on, in words for the person who runs it. */
export class Problem extends Error {}

/** The script was called in a way that cannot be meant. */
export class UsageProblem extends Problem {
  constructor(sentence: string) {
    super(`${sentence}. See --help.`);
  }
}

/** A whole number above 0, as identifiers are. */
export function toId(text: string, what: string): number {
  const value = findId(text);
  if (value === undefined) throw new UsageProblem(`${what} must be a number, not "${text}"`);
  return value;
}

export function findId(text: string): number | undefined {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}
