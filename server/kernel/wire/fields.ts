import { emailAddress } from '../../platform/email-address.ts';
import { ofKind, type Kind } from './identifiers.ts';
import { z } from '../../errors/zod-messages.ts';
import { rule } from '../../errors/issues.ts';

/**
 * The wire format of values in requests and answers. The schemas are strict: a number is a number. REST converts paths
 * and query strings.
 */

/** An identifier: a positive integer, at most 2^53-1. */
export const id = z
  .int()
  .positive()
  .meta({ description: 'Identifier', examples: [42] });

/** An identifier of the given kind; the samples of the reference, the generated tests and the fuzz read the kind. */
export const idOf = (kind: Kind): typeof id => ofKind({ kind }, id.clone());

/** The employee whom an operation is for, usually its caller: the client sends the caller's where it is given none. */
export const ownId = (): typeof id => ofKind({ kind: 'employee', isOwn: true }, id.clone());

/** A visible character: neither white space nor invisible. */
export const visible = /[^\s\p{Cf}\p{Cc}]/u;

/**
 * Text that PostgreSQL can store: no NUL, no lone surrogates. Counted in code points, as JSON Schema counts, and trimmed of
 * outer white space. If it must not be empty, a reader sees something of it.
 */
export function text(limits: { min?: number; max: number }) {
  const { min = 1, max } = limits;
  return z
    .string()
    .trim()
    .min(min, min === 1 ? 'must not be empty' : `must have at least ${min} characters`)
    .max(max, `must have at most ${max} characters`)
    .refine(
      (value) => value.isWellFormed() && !value.includes('\0'),
      rule('invalid_format', 'must be well-formed text without NUL characters'),
    )
    .refine((value) => min === 0 || value === '' || visible.test(value), rule('too_small', 'must not be empty'));
}

/**
 * Text that mail programs turn into a link: a scheme, `www.`, or a domain with a path. "St. John's" and "A/B Tests" are
 * allowed.
 */
const webAddress = /\/\/|https?:|(?<![\p{L}\p{N}])www\.|[\p{L}\p{N}-]\.\p{L}{2,}\//iu;

/** Characters that a name must not contain: controls, line ends, and those that change the text direction. */
const hiddenCharacters = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** What a list or a search is asked for, as `q`. */
export const searchText = text({ max: 200 });

/** The name of a person, company or key. It appears in mails to others, so it holds no web address. */
export function name(limits: { min?: number; max: number }) {
  return text(limits)
    .refine((value) => !hiddenCharacters.test(value), rule('invalid_format', 'must not contain control characters'))
    .refine(
      // Equivalent dots and slashes of other scripts count too.
      (value) => !webAddress.test(value.normalize('NFKC').replaceAll('。', '.')),
      rule('invalid_format', 'must not contain a web address'),
    );
}

export const email = emailAddress.meta({
  description: 'E-mail address, compared without regard to case',
  format: 'email',
  examples: ['ada@example.com'],
});

export const page = z
  .int()
  .min(1)
  .default(1)
  .meta({ description: 'Page number, from 1; a page past the end is empty' });

/**
 * Hours or money: any finite number from 0 on, rounded half up to the two decimals that are stored. The rounding uses
 * the written number, so 1.005 becomes 1.01 although its binary value is lower.
 */
export const decimal = ({ max }: { max: number }) =>
  z
    .number()
    .min(0)
    .transform(roundHalfUp)
    .pipe(z.number().max(max))
    .meta({ description: 'Rounded half up to two decimals', minimum: 0, maximum: max });

function roundHalfUp(value: number): number {
  const written = String(value);
  // Numbers below a millionth, or above all that can be stored, are written with an exponent.
  if (written.includes('e')) return value < 1 ? 0 : value;
  const [whole, fraction = ''] = written.split('.');
  if (fraction.length <= 2) return value;
  return Number(BigInt(whole! + fraction.slice(0, 2)) + (fraction[2]! >= '5' ? 1n : 0n)) / 100;
}

/** Whether an update sets no field; `names` are the fields that identify what to update. */
export function isEmptyUpdate(input: object, ...names: string[]): boolean {
  return Object.entries(input).every(([name, value]) => value === undefined || names.includes(name));
}

/** An answer without content. */
export const done = z.object({ success: z.literal(true) });

/** One page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    results: z.array(item),
    page: z.int(),
    pageSize: z.int(),
    total: z.int().meta({ description: 'How many there are on all pages' }),
    totalPages: z.int(),
  });
}
