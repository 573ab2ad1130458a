import type { ComponentChildren, JSX } from 'preact';
import { h } from 'preact';
import type { CommentNow } from 'work-management-client';
import { piecesOf } from './mentions.ts';

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
  DIV: 'div',
  HR: 'hr',
  DEL: 'del',
  INS: 'ins',
  SUB: 'sub',
  SUP: 'sup',
  // A heading in a comment is no heading of the page.
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`H${level}`, 'strong'])),
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

function parse(html: string): HTMLElement {
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  // The service writes a line break of plain text as `<br>` and the line break itself, which is one and not two.
  for (const { nextSibling } of body.querySelectorAll('br'))
    if (nextSibling instanceof Text) nextSibling.data = nextSibling.data.replace(/^\r?\n/, '');
  return body;
}

/** A message of a comment. Those who are mentioned stand out, by their name. */
export function RichText({ html, mentions }: { html: string; mentions: CommentNow['mentions'] }): JSX.Element {
  const copy = (node: Node): ComponentChildren => {
    if (node.nodeType === Node.TEXT_NODE) return withMentions(node.textContent ?? '', mentions);
    if (!(node instanceof Element) || dropped.has(node.nodeName.toUpperCase())) return null;
    const children = [...node.childNodes].map((child) => copy(child));
    if (node.nodeName === 'A') return linkOf(node.getAttribute('href'), children);
    const tag = tags[node.nodeName];
    if (tag === undefined) return children;
    return tag === 'br' || tag === 'hr' ? h(tag, {}) : h(tag, {}, children);
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
  return piecesOf(text, mentions).map(({ text: words, people: [person] }) =>
    person ? <span class="mention">@{person.name}</span> : withSpaces(words),
  );
}

/** Spaces side by side are kept, as in code that was typed; those that indent the markup itself mean nothing. */
const withSpaces = (text: string): string =>
  text.replaceAll(/(?<![\n ]) {2,}/g, (spaces) => `${'\u00A0'.repeat(spaces.length - 1)} `);

/** The words of a message, for a screen reader or to be edited as plain text. */
export function plainTextOf(html: string): string {
  const body = parse(html);
  for (const element of body.querySelectorAll('br')) element.replaceWith('\n');
  const blocks = body.querySelectorAll('p, div, li, blockquote, pre, h1, h2, h3, h4, h5, h6');
  for (const element of blocks) element.append(element.nodeName === 'LI' ? '\n' : '\n\n');
  const text = body.textContent ?? '';
  return (blocks.length === 0 ? text : text.replaceAll(/\n{3,}/g, '\n\n')).trim();
}
