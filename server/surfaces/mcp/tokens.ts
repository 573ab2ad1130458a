/** The most tokens of a result; agents keep what they read, and pay for it with each further step. */
export const tokensMax = 7_800;

/**
 * An upper estimate of what a text costs a model. Each maker has a vocabulary of its own, so none is asked. Words cost less
 * than what looks random: in ASCII a change between letters, capitals, digits and signs begins a token, and within a run of
 * one kind a character costs the given part of one; of other scripts a token has one and a third bytes. Prose costs about
 * half of the estimate, and so does a page of a list.
 */
export function costOf(text: string): number {
  let cost = 0;
  for (let at = 0; at < text.length; at += 1) cost += costAt(text, at);
  return cost;
}

/** The end of the longest beginning of a text, from a place on, that costs no more. */
export function endWithin(text: string, from: number, costMax: number): number {
  let cost = 0;
  let at = from;
  while (at < text.length) {
    cost += costAt(text, at);
    if (cost > costMax) break;
    at += 1;
  }
  // Not between the halves of a pair.
  return at < text.length && at > from + 1 && /[\uD800-\uDBFF]/.test(text[at - 1]!) ? at - 1 : at;
}

function costAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  // The two units of an emoji cost what its four bytes do.
  if (unit >= 0x8_00) return unit >= 0xd8_00 && unit < 0xe0_00 ? 1.5 : 2.25;
  if (unit >= 0x80) return 1.5;
  const kind = kindOf(unit);
  return kindOf(text.charCodeAt(at - 1)) === kind ? kind.inner : kind.first;
}

type Kind = { first: number; inner: number };
const kinds = {
  small: { first: 1, inner: 0.6 },
  capital: { first: 1, inner: 0.8 },
  digit: { first: 1, inner: 0.7 },
  space: { first: 0.3, inner: 0.3 },
  sign: { first: 1, inner: 1 },
} satisfies Record<string, Kind>;

function kindOf(unit: number): Kind {
  if (unit >= 0x61 && unit <= 0x7a) return kinds.small;
  if (unit >= 0x41 && unit <= 0x5a) return kinds.capital;
  if (unit >= 0x30 && unit <= 0x39) return kinds.digit;
  return unit === 0x20 ? kinds.space : kinds.sign;
}
