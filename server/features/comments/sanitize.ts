import { decodeHTMLAttribute, decodeHTMLStrict } from 'entities';

/*
 * Sanitises rich text: HTML of a few harmless tags. It is done once, when the text comes in, so that a reader may
 * insert it into a page unchanged. The result consists of these parts only:
 * - start tags of the list without attributes, except for a link with a checked address and fixed other attributes;
 * - their end tags, each at its place, so that nothing extends into the surrounding page;
 * - text, in which `<`, `>` and `&` are entities.
 * Everything else is text: unknown or malformed tags, and tags at a wrong place. So nothing is lost, and sanitising the
 * result again changes nothing.
 */

/** Tags nested deeper than this are shown as text. */
const nestingMax = 40;

export const allowedTags =
  'p div br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code b strong i em u s del ins sub sup span a'.split(' ');

// The bounds prevent repeated reading of a hostile text. An attribute has a value, so `a <b and c> d` is no tag.
const value = `"[^"]{0,8192}"|'[^']{0,8192}'|[^\\s"'<>\`]{1,8192}`;
const attribute = `\\s+([a-z][\\w:.-]{0,63})\\s*=\\s*(${value})`;
const tag = new RegExp(
  `<(?:/(${allowedTags.join('|')})\\s*|(${allowedTags.join('|')})((?:${attribute.replaceAll('(', '(?:')}){0,32})\\s*/?)>`,
  'gi',
);
const attributes = new RegExp(attribute, 'gi');

const isVoid = new Set(['br', 'hr']);
const isHeading = new Set('h1 h2 h3 h4 h5 h6'.split(' '));
/** Paragraphs hold none of these. */
const isBlock = new Set([...isHeading, ...'p div hr ul ol li blockquote pre'.split(' ')]);
/** In one of these, which is in an item, another item may begin. */
const holdsItems = new Set([...isHeading, ...'ul ol blockquote pre'.split(' ')]);

/**
 * The open element, if any, that browsers close where a start tag stands, with everything in it: a paragraph before a block,
 * an item before the next, a heading right before another, and a link before a link. Its place in `open`, else -1.
 */
function findEnded(open: readonly string[], name: string): number {
  if (isBlock.has(name) && open.includes('p')) return open.lastIndexOf('p');
  if (name === 'a') return open.lastIndexOf('a');
  if (name === 'li') {
    const item = open.lastIndexOf('li');
    return open.slice(item + 1).some((inside) => holdsItems.has(inside)) ? -1 : item;
  }
  return isHeading.has(name) && isHeading.has(open.at(-1) ?? '') ? open.length - 1 : -1;
}

export function sanitizeRichText(html: string): string {
  let safe = '';
  let end = 0;
  const open: string[] = [];
  /** Start tags shown as text, by name, whose end tags are still to come. */
  const shown = new Map<string, number>();
  /** End tags, by name, that are still to come for elements which another end tag has closed. */
  const ended = new Map<string, number>();
  const show = (source: string) => void (safe += textToHtml(decodeHTMLStrict(source)));
  const close = () => void (safe += `</${open.pop()!}>`);

  const closeEarly = () => {
    add(ended, open.at(-1)!, 1);
    close();
  };

  function start(name: string, written: string, source: string): void {
    for (let ended = findEnded(open, name); ended !== -1; ended = findEnded(open, name))
      while (open.length > ended) closeEarly();
    if (isVoid.has(name)) return void (safe += `<${name} />`);
    if (open.length >= nestingMax) {
      add(shown, name, 1);
      return show(source);
    }
    open.push(name);
    safe += `<${name}${name === 'a' ? linkTo(written) : ''}>`;
  }

  function finish(name: string, source: string): void {
    if (takeOne(shown, name)) return show(source);
    if (!open.includes(name)) return takeOne(ended, name) ? undefined : show(source);
    while (open.at(-1) !== name) closeEarly();
    close();
  }

  for (const { 0: source, 1: endName, 2: startName, 3: written = '', index } of html.matchAll(tag)) {
    show(html.slice(end, index));
    end = index + source.length;
    if (endName === undefined) start(startName!.toLowerCase(), written, source);
    else finish(endName.toLowerCase(), source);
  }
  show(html.slice(end));
  while (open.length > 0) close();
  return safe;
}

const add = (counts: Map<string, number>, name: string, by: number) => counts.set(name, (counts.get(name) ?? 0) + by);

function takeOne(counts: Map<string, number>, name: string): boolean {
  const hasOne = (counts.get(name) ?? 0) > 0;
  if (hasOne) add(counts, name, -1);
  return hasOne;
}

/** Text as HTML: nothing of it is markup, and its lines stay lines. */
export const plainTextToHtml = (text: string): string => textToHtml(text).replaceAll(/\r?\n/g, '<br />$&');

export const textToHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A link to an absolute address, in a window without access to this one; other links lose their target. */
function linkTo(written: string): string {
  for (const [, name, quoted] of written.matchAll(attributes)) {
    if (name!.toLowerCase() !== 'href') continue;
    const href = decodeHTMLAttribute(quoted!.replaceAll(/^["']|["']$/g, '')).trim();
    const isAbsolute = /^(https?:\/\/|mailto:)/i.test(href) && URL.canParse(href);
    if (!isAbsolute) return '';
    return ` href="${textToHtml(href).replaceAll('"', '&quot;')}" target="_blank" rel="noopener noreferrer nofollow"`;
  }
  return '';
}
