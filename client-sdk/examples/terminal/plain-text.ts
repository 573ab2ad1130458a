/**
 * Text of others as a terminal may show it: characters that move the cursor, change the title, hide or reverse what
 * stands there are replaced by a visible sign. Line ends and tabs stay.
 */
export function plain(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(unsafe, '\u{fffd}');
}

/** The same for what must stay on its line, such as a name. */
export function plainLine(text: string): string {
  return plain(text.replaceAll(/\s+/gu, ' ').trim());
}

/** JSON for a terminal or a pipe: what is unsafe in text is written as an escape, which means the same. */
export function plainJson(value: unknown, indent?: number): string {
  const escape = (found: string) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // Line ends between the parts are of JSON itself; those in text are escaped already.
  return JSON.stringify(value, null, indent).replaceAll(unsafe, escape);
}

/** Controls but tab and line feed, marks that change the direction of text, and invisible ones. */
// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A message, which is sanitised HTML, as text. */
export function textOfHtml(html: string): string {
  const text = html
    // Outside of `pre` white space means no more than a space; the little that `pre` loses can still be read.
    .replaceAll(/[\t\r ]+/g, ' ')
    .replaceAll(/<br\s*\/?>/g, '\n')
    .replaceAll(/<li>/g, '\n- ')
    .replaceAll(/<blockquote>/g, '\n> ')
    .replaceAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_, address: string, words: string) =>
      words === address ? words : `${words} (${address})`,
    )
    .replaceAll(/<\/?(?:p|ul|ol|pre|h[1-3]|blockquote)>/g, '\n')
    .replaceAll(/<[^>]*>/g, '');
  return plain(decode(text))
    .replaceAll(/ *\n */g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

/** Text as a message: nothing in it is markup. */
export function htmlOfText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Each entity once, so that `&amp;lt;` stays `&lt;`. */
function decode(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
