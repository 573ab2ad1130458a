import { isIP } from 'node:net';
import { z } from 'zod';

/* The types of settings: each converts text to a value, or refuses it with a sentence. */

export const port = z.coerce.number('must be a port number').int().min(0).max(65_535);
export const wholeNumber = (min: number, max = 1_000_000_000) =>
  z.coerce.number(`must be a whole number from ${min} to ${max}`).int().min(min).max(max);
/** An address or a name to listen on; an IPv6 address without brackets. */
export const host = z
  .string()
  .refine((value) => isIP(value) !== 0 || /^[\w.-]+$/.test(value), 'must be an address or a name, without a port');
export const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');
export const words = z.string().transform((value) =>
  value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
);
export const url = (protocol: RegExp, expected: string) =>
  z.url({ protocol, error: `must be a URL of the form ${expected}` }).transform((value) => value.replace(/\/+$/, ''));
export const webUrl = url(/^https?$/, 'https://host');
/** An address to which paths are added: a query, a fragment or a password would end up in the middle of links. */
export const plainWebUrl = webUrl.refine((value) => {
  const { href, origin, pathname } = new URL(value);
  return href === origin + pathname;
}, 'must have no query, no fragment and no password');
export const clientIds = words
  .refine((ids) => ids.every((id) => /^[A-Za-z0-9][\w.:/-]*$/.test(id)), 'must be client identifiers, by comma')
  .default([]);
/** A plain address, or one with a name: `Work <no-reply@example.com>`. */
export const sender = /^(?:[^<>@"\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

/** An origin as a browser sends it: scheme, host and port only. */
export function isOrigin(word: string): boolean {
  return /^https?:/.test(word) && URL.canParse(word) && new URL(word).origin === word;
}

/** An address or a network in CIDR notation; `true` or a number would let any caller choose their address. */
export function isNetwork(word: string): boolean {
  const [, address = '', size] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(word) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(size ?? 0) <= (family === 4 ? 32 : 128);
}
