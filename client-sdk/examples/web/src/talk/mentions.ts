import type { Employee } from 'work-management-client';

/** The beginning of a mention that is being typed: where its `@` stands, and what was typed after it. */
export type Query = { start: number; text: string };

/** The mention that ends where the cursor is, if one does. */
export function queryAt(text: string, cursor: number): Query | null {
  const found = /(?:^|[\s(])@([\p{L}\p{N}.'’-]*(?: [\p{L}\p{N}.'’-]+)?)$/u.exec(text.slice(0, cursor));
  return found ? { start: cursor - found[1]!.length - 1, text: found[1]! } : null;
}

const fold = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Those whose name, or a word of it, begins with what was typed. */
export function suggestionsFor({ text }: Query, people: readonly Employee[]): Employee[] {
  const typed = fold(text);
  return people
    .filter(({ name }) => fold(name).startsWith(typed) || ` ${fold(name)}`.includes(` ${typed}`))
    .slice(0, 6);
}

/** The text with the mention completed, and where the cursor then stands. */
export function complete(text: string, { start, text: typed }: Query, name: string): { text: string; cursor: number } {
  const before = `${text.slice(0, start)}@${name} `;
  return { text: before + text.slice(start + 1 + typed.length).trimStart(), cursor: before.length };
}

/** The addresses of those whose `@Name` stands in a text. */
export function mentionedIn(text: string, people: readonly Employee[]): string[] {
  return people.filter(({ name }) => text.includes(`@${name}`)).map(({ email }) => email);
}
