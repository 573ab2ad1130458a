import { textToHtml } from '../comments/sanitize.ts';
import { erasedAddress, erasedName, erasedNames, type KnownAs } from '../employees/erased.ts';

/*
 * Replaces a person in what others have written, in events, and in the audit log: their names and addresses wherever they stand
 * as whole words, in any letter case, and the records of the employee and of their API keys.
 */

/** A person in texts and in values of JSON. */
export type Eraser = {
  /** A regular expression of PostgreSQL that matches at least each text that `erase` changes, as JSON has it. */
  pattern: string;
  /** The value without the person; the same one where they are not in it. */
  erase<Value>(value: Value): Value;
};

/** A name in a form in which two that look the same are the same. */
export const fold = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').toLowerCase();

/** The white space between two words in any text, and as JSON, rich text and addresses of the web have it. */
const gap = String.raw`(?:[ \n\r\t\u00a0\u202f]|\\[nrt]|<br />)+`;
const encodedGap = String.raw`(?:%20|\+|%C2%A0)`;

/** For both kinds of regular expressions. */
const toRegExp = (text: string): string =>
  text
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll(' ', gap)
    .replaceAll('%20', encodedGap);

const writings = [(text: string) => text, textToHtml, encodeURIComponent];

/**
 * Regular expressions of a text in plain text, in stored rich text and in addresses of the web, each of its accents in one
 * character or in characters of their own. `coded` is how that text is stored.
 */
function patternsOf(text: string, coded = (written: string) => written): string[] {
  const letters = Array.from(text.replaceAll(/\s+/g, ' ').normalize('NFC'));
  const patterns = writings.map((write) => {
    const patternOf = (form: string) => toRegExp(coded(write(form)));
    return letters.map((letter) => eitherOf(patternOf(letter), patternOf(letter.normalize('NFD')))).join('');
  });
  return [...new Set(patterns)];
}

const eitherOf = (one: string, other: string): string => (one === other ? one : `(?:${one}|${other})`);

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** A name of one word may be any word. */
const isTelling = (name: string): boolean => /\S\s+\S/.test(name);

/** Nobody who is called like this is looked for: PostgreSQL has no pattern that matches nothing. */
const matchesNothing = 'a^';

export function createEraser({ names, addresses }: KnownAs, employeeId: number): Eraser {
  const telling = names.filter(isTelling);
  const name = wordPattern(telling, String.raw`(?<![\p{L}\p{N}_])`, String.raw`(?![\p{L}\p{M}\p{N}_])`);
  const address = wordPattern(addresses, String.raw`(?<![\w.+-])`, String.raw`(?![\w-]|\.\w)`);
  const inText = (text: string): string => {
    const without = address ? text.replaceAll(address, erasedAddress(employeeId)) : text;
    return name ? without.replaceAll(name, erasedName(employeeId)) : without;
  };
  const erase = <Value>(value: Value): Value => eraseIn(value, { employeeId, inText }) as Value;
  const patterns = [...telling, ...addresses].flatMap((text) => patternsOf(text, inJson));
  return { pattern: patterns.join('|') || matchesNothing, erase };
}

function wordPattern(words: string[], before: string, after: string): RegExp | undefined {
  // The longest first, so that a name that begins like another one is found whole.
  const longestFirst = words.toSorted((one, other) => other.length - one.length);
  if (longestFirst.length === 0) return undefined;
  return new RegExp(`${before}(?:${longestFirst.flatMap((word) => patternsOf(word)).join('|')})${after}`, 'giu');
}

type Within = { employeeId: number; inText(text: string): string };
type Fields = { [name: string]: unknown };

function eraseIn(value: unknown, within: Within): unknown {
  if (typeof value === 'string') return within.inText(value);
  if (Array.isArray(value)) return value.map((part) => eraseIn(part, within));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, eraseIn(part, within)]));
  return eraseRecord(fields, within.employeeId);
}

/** What an employee's record says of the person, as events show it. */
const recordOf = (employeeId: number): Fields => ({
  ...erasedNames(employeeId),
  name: erasedName(employeeId),
  email: erasedAddress(employeeId),
  phone: null,
  designation: null,
  salary: null,
  date_of_birth: null,
  date_of_joining: null,
  gender: null,
  country_code: null,
  profilePicture: null,
});

function eraseRecord(fields: Fields, employeeId: number): Fields {
  const record = recordOf(employeeId);
  if (fields['_id'] === employeeId && 'first_name' in fields) return withValues(fields, record);
  if (fields['userId'] === employeeId && 'scopes' in fields) return { ...fields, name: 'API key' };
  if (fields['employeeId'] === employeeId && isFields(fields['changes']))
    return { ...fields, changes: withoutChanges(fields['changes'], record) };
  return fields;
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const withValues = (fields: Fields, values: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, name in values ? values[name] : value]));

/** That a field has changed stays, its values do not. */
const withoutChanges = (changes: Fields, record: Fields): Fields =>
  Object.fromEntries(
    Object.entries(changes).map(([name, change]) => [
      name,
      name in record ? { before: record[name], after: record[name] } : change,
    ]),
  );
