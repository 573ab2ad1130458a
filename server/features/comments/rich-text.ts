import { z } from 'zod';
import { invalid } from '../../errors/errors.ts';
import { rule } from '../../errors/issues.ts';
import { visible } from '../../kernel/wire/fields.ts';
import { allowedTags, plainTextToHtml, sanitizeRichText } from './sanitize.ts';

export const messageBytesMax = 64 * 1024;

const blockEnd = /<(?:[bh]r \/|\/(?:p|li|ul|ol|blockquote|pre|h[1-6]|div))>/g;
const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };

/** The plain text of sanitised rich text, one line for each block. */
export function plainTextOf(richText: string): string {
  return richText
    .replaceAll(blockEnd, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => entities[entity]!)
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim();
}

/** The beginning of a text, at most so many code points, cut where a character as people see it ends (the emoji of a family is seven code points). */
export function excerptOf(text: string, lengthMax: number): string {
  const codePoints = Array.from(text.slice(0, 2 * (lengthMax + 1)));
  if (codePoints.length <= lengthMax) return text;
  const fits = codePoints.slice(0, lengthMax - 1).join('').length;
  // Made here: the first one takes 13 ms, which a start need not.
  const end = new Intl.Segmenter().segment(text.slice(0, 2 * fits + 1)).containing(fits)!.index;
  return `${text.slice(0, end === 0 ? fits : end).trimEnd()}…`;
}

/** A message in a request; see {@link readMessage}. */
export const message = z
  .string()
  .refine(
    (value) => Buffer.byteLength(value) <= messageBytesMax,
    rule('too_big', `must have at most ${messageBytesMax} bytes of UTF-8`),
  )
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    rule('invalid_format', 'must be well-formed text without NUL characters'),
  )
  .meta({
    description: `At most 64 KiB of UTF-8, as sent and as stored. May be empty if \`image\` is set. HTML is sanitised when it is stored: ${allowedTags.join(', ')} stay, without attributes except the \`href\` of a link to http, https or mailto; other markup is shown as text, so nothing is lost. A stored message can be sent again as HTML and stays the same.`,
    examples: ['<p>Ready for review, @grace@example.com</p>'],
  });

export const format = z.enum(['html', 'text']).default('html').meta({
  description:
    'What `message` is: `html`, or `text`, of which every character is kept and shown, `<` and `&` included. It is answered as HTML either way.',
});

type Sent = { message: string; format: z.output<typeof format> };

/** Converts a message to the HTML that is stored. Throws if it is too long, or if nothing of it is visible. */
export function readMessage(sent: Sent, { hasImage }: { hasImage: boolean }): string {
  const stored = sent.format === 'text' ? plainTextToHtml(sent.message) : sanitizeRichText(sent.message);
  if (Buffer.byteLength(stored) > messageBytesMax)
    throw invalid(
      ['message'],
      `must have at most ${messageBytesMax} bytes as it is stored, with \`<\`, \`>\` and \`&\` escaped`,
      'too_big',
    );
  if (!hasImage && !visible.test(plainTextOf(stored))) throw invalid(['message'], 'must not be empty', 'too_small');
  return stored;
}
