/** Columns that a text takes in a terminal: two for East Asian wide letters and emoji, none for combining marks. */
export function widthOf(text: string): number {
  // Most text.
  if (/^[\u0020-\u024f]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}/u;

const widthOfGrapheme = (segment: string): number => (wide.test(segment) || segment.includes('\ufe0f') ? 2 : 1);

/** A text that is cut where it is wider than `max`. */
export function cutTo(text: string, max: number): string {
  if (widthOf(text) <= max) return text;
  let cut = '';
  let width = 1;
  for (const { segment } of graphemes.segment(text)) {
    width += widthOfGrapheme(segment);
    if (width > max) break;
    cut += segment;
  }
  return `${cut.trimEnd()}…`;
}

export const padEnd = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));
