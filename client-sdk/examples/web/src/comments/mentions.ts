import type { Employee } from 'work-management-client';

/** The beginning of a mention that is being typed: where its `@` stands, and what was typed after it. */
export type Query = { start: number; text: string };

/** Some text, and who is mentioned by it, if anybody is: all who have that name. */
export type Piece<Person> = { text: string; people: Person[] };

type Named = Pick<Employee, 'name' | 'email'>;

/** The longest name that is looked for while it is typed. */
const typedMax = 60;

/** The mention that ends where the cursor is, if one does. A name may hold any characters but `@`. */
export function queryAt(text: string, cursor: number): Query | null {
  const start = text.lastIndexOf('@', cursor - 1);
  const typed = text.slice(start + 1, cursor);
  if (start < 0 || cursor === 0 || typed.length > typedMax || typed.includes('\n')) return null;
  return beginsMention(text, start) ? { start, text: typed } : null;
}

const fold = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Those whose name, or a word of it, begins with what was typed. */
export function suggestionsFor<Person extends Named>({ text }: Query, people: readonly Person[]): Person[] {
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

/** The addresses of those whose `@Name` or `@address` stands in a text. */
export function mentionedIn(text: string, people: readonly Named[]): string[] {
  const mentioned = piecesOf(text, people).flatMap((piece) => piece.people);
  return [...new Set(mentioned.map(({ email }) => email))];
}

/**
 * Cuts a text at its mentions: `@` and a name or an address of somebody. Of several the longest is meant, so `@Ann
 * Leeds` is not `@Ann Lee`. Names are compared as text, never as a pattern: they may hold any characters.
 */
export function piecesOf<Person extends Named>(text: string, people: readonly Person[]): Piece<Person>[] {
  const words = wordsOf(people);
  const pieces: Piece<Person>[] = [];
  let done = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const found =
      at < done || !beginsMention(text, at) ? undefined : words.find((word) => standsAt(text, at + 1, word));
    if (!found) continue;
    if (at > done) pieces.push({ text: text.slice(done, at), people: [] });
    done = at + 1 + found.length;
    pieces.push({ text: text.slice(at, done), people: found.people });
  }
  if (done < text.length) pieces.push({ text: text.slice(done), people: [] });
  return pieces;
}

type Word<Person> = { folded: string; length: number; people: Person[] };

/** The names and addresses of people, the longest first. */
function wordsOf<Person extends Named>(people: readonly Person[]): Word<Person>[] {
  const words = new Map<string, Word<Person>>();
  for (const person of people) {
    for (const text of new Set([person.name.trim(), person.email])) {
      const folded = text.toLowerCase();
      const word = words.get(folded);
      if (word) word.people.push(person);
      else if (folded !== '') words.set(folded, { folded, length: text.length, people: [person] });
    }
  }
  return [...words.values()].toSorted((a, b) => b.length - a.length);
}

/** What goes on with the word before it: letters, digits, and what joins or colours a character. */
const goesOn = /^[\p{L}\p{N}\p{M}\p{Emoji_Modifier}\p{Join_Control}_]/u;

function standsAt(text: string, start: number, { folded, length }: Word<unknown>): boolean {
  const end = start + length;
  return text.slice(start, end).toLowerCase() === folded && !goesOn.test(text.slice(end, end + 2));
}

/** Whether an `@` may begin a mention: it is not in the middle of an address. */
function beginsMention(text: string, at: number): boolean {
  return !/[\p{Script=Latin}\p{N}_]$/u.test(text.slice(Math.max(0, at - 2), at));
}
