import sanitizeHtml from 'sanitize-html';
import { z } from 'zod';

/*
 * What people write is HTML of a few harmless tags. It is made safe once, when it comes in, so whoever shows it may
 * put it on a page as it is. What comes out is canonical: each `<`, `>` and `&` that is text is written as an entity.
 */

export const messageBytesMax = 64 * 1024;
/** Nobody writes so many; they are what makes a hostile message cost time. */
const tagsMax = 5_000;
/** Tags inside more tags than this are dropped and their text kept. */
const nestingMax = 40;

const options: sanitizeHtml.IOptions = {
  allowedTags: 'p br b strong i em u s a ul ol li blockquote code pre h1 h2 h3'.split(' '),
  allowedAttributes: { a: ['href', 'rel', 'target'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  nestingLimit: nestingMax,
  // What stands inside these was not written for a reader: it goes with its tag.
  nonTextTags: 'script style textarea option xmp noscript iframe object svg math title template'.split(' '),
  transformTags: { a: (tagName, { href = '' }) => ({ tagName, attribs: linkTo(href.trim()) }) },
};

/** A link leads to an absolute address, in a window that cannot reach back; any other one loses its target. */
function linkTo(href: string): sanitizeHtml.Attributes {
  const isAbsolute = /^(https?:\/\/|mailto:)/i.test(href) && URL.canParse(href);
  return isAbsolute ? { href, target: '_blank', rel: 'noopener noreferrer nofollow' } : {};
}

export function sanitizeRichText(html: string): string {
  return sanitizeHtml(html, options).trim();
}

const blockEnd = /<(?:br \/|\/(?:p|li|ul|ol|blockquote|pre|h[1-3]))>/g;
const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };

/** The text of sanitised rich text, as a reader sees it, a line for each block. */
export function plainTextOf(richText: string): string {
  return richText
    .replaceAll(blockEnd, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => entities[entity]!)
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim();
}

/** The beginning of a text, cut between characters. */
export function excerptOf(text: string, charactersMax: number): string {
  const characters = Array.from(text.slice(0, 2 * (charactersMax + 1)));
  if (characters.length <= charactersMax) return text;
  return `${characters
    .slice(0, charactersMax - 1)
    .join('')
    .trimEnd()}…`;
}

/** Something other than space and what nobody sees. */
const visible = /[^\s\p{Cf}\p{Cc}]/u;

/** Rich text as it comes in: measured first, made safe afterwards, and not empty then. */
export const richText = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= messageBytesMax, `must have at most ${messageBytesMax} bytes of UTF-8`)
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be well-formed text without NUL characters')
  .refine((value) => value.split('<', tagsMax + 2).length <= tagsMax + 1, `must have at most ${tagsMax} tags`)
  .transform(sanitizeRichText)
  .refine((value) => visible.test(plainTextOf(value)), 'must not be empty')
  .meta({
    description:
      'HTML of at most 64 KiB (UTF-8), sanitised when it is stored: p, br, b, strong, i, em, u, s, a, ul, ol, li, blockquote, code, pre and h1 to h3 stay, other tags go and their text stays; links lead to http, https or mailto. Plain text is fine; write `<` as `&lt;`.',
    examples: ['<p>Ready for review, @grace@example.com</p>'],
  });
