import type { ComponentChildren, JSX } from 'preact';
import { h } from 'preact';
import type { CommentNow } from 'work-management-client';

/*
 * The service sanitises messages when they are stored. The page does not lean on that alone: it copies what it knows,
 * element by element, and never hands the text itself to the browser as HTML.
 */

const tags: Partial<Record<string, string>> = {
  P: 'p',
  BR: 'br',
  B: 'b',
  STRONG: 'strong',
  I: 'i',
  EM: 'em',
  U: 'u',
  S: 's',
  UL: 'ul',
  OL: 'ol',
  LI: 'li',
  BLOCKQUOTE: 'blockquote',
  CODE: 'code',
  PRE: 'pre',
  // A heading in a comment is no heading of the page.
  H1: 'strong',
  H2: 'strong',
  H3: 'strong',
};

/** What is dropped with all that is in it; of everything else unknown the text stays. */
const dropped = new Set([
  'SCRIPT',
  'STYLE',
  'TEMPLATE',
  'IFRAME',
  'OBJECT',
  'SVG',
  'MATH',
  'TITLE',
  'TEXTAREA',
  'NOSCRIPT',
]);

const parse = (html: string): HTMLElement => new DOMParser().parseFromString(html, 'text/html').body;

/** A message of a comment. Those who are mentioned stand out, by their name. */
export function RichText({ html, mentions }: { html: string; mentions: CommentNow['mentions'] }): JSX.Element {
  const copy = (node: Node): ComponentChildren => {
    if (node.nodeType === Node.TEXT_NODE) return withMentions(node.textContent ?? '', mentions);
    if (!(node instanceof Element) || dropped.has(node.nodeName.toUpperCase())) return null;
    const children = [...node.childNodes].map((child) => copy(child));
    if (node.nodeName === 'A') return linkOf(node.getAttribute('href'), children);
    const tag = tags[node.nodeName];
    if (tag === undefined) return children;
    return tag === 'br' ? <br /> : h(tag, {}, children);
  };
  return <div class="rich-text">{[...parse(html).childNodes].map((node) => copy(node))}</div>;
}

function linkOf(href: string | null, children: ComponentChildren): ComponentChildren {
  if (href === null || !/^(https?:\/\/|mailto:)/i.test(href)) return children;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow ugc">
      {children}
    </a>
  );
}

/** `@Priya Raman`, or `@priya@example.com` where somebody wrote the address, becomes the name on a ground of its own. */
function withMentions(text: string, mentions: CommentNow['mentions']): ComponentChildren {
  if (mentions.length === 0 || !text.includes('@')) return text;
  const words = mentions.flatMap(({ name, email }) => [name, email]).toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(`@(${words.map((word) => escapeForPattern(word)).join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  return text.split(pattern).map((part, index) => {
    if (index % 2 === 0) return part;
    const who = mentions.find(({ name, email }) =>
      [name, email].some((word) => word.toLowerCase() === part.toLowerCase()),
    );
    return <span class="mention">@{who?.name ?? part}</span>;
  });
}

const escapeForPattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\-]/g, String.raw`\$&`);

/** The words of a message, for a screen reader or to be edited as plain text. */
export function plainTextOf(html: string): string {
  const body = parse(html);
  for (const element of body.querySelectorAll('br')) element.replaceWith('\n');
  const blocks = 'p, li, blockquote, pre, h1, h2, h3';
  for (const element of body.querySelectorAll(blocks)) element.append(element.nodeName === 'LI' ? '\n' : '\n\n');
  return (body.textContent ?? '').replaceAll(/\n{3,}/g, '\n\n').trim();
}

/** What somebody has typed, as HTML: an empty line begins a paragraph. */
export function htmlOf(text: string): string {
  const escaped = text.trim().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped
    .split(/\n\s*\n/)
    .map((paragraph) => `<p>${paragraph.replaceAll('\n', '<br>')}</p>`)
    .join('');
}
