/*
 * Where a client may have people sent back to: https; http on the machine of the person, with any port, because programs listen on
 * the one that is free (RFC 8252); or a scheme of its own with a dot, as programs register them (`com.example.app:/done`).
 */

const uriMax = 2_000;
/** The loopback addresses, with the port of a program that listens there. */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(?=[/?]|$)/;

export function isRedirectUri(uri: string): boolean {
  // Browsers drop white space, take a backslash for a slash, and keep a fragment to themselves.
  if (uri.length > uriMax || !/^[\x21-\x7e]+$/.test(uri) || /[\\#]/.test(uri) || !URL.canParse(uri)) return false;
  const { protocol, username, password } = new URL(uri);
  if (username !== '' || password !== '') return false;
  if (protocol === 'https:') return uri.startsWith('https://');
  return protocol === 'http:' ? loopback.test(uri) : /^[a-z][a-z\d+-]*(\.[a-z\d+-]+)+:$/.test(protocol);
}

/** Whether a client has registered a URI: the same text, on the loopback with any port. */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  const withoutPort = (one: string) => one.replace(loopback, '$1');
  return isRedirectUri(uri) && registered.some((one) => withoutPort(one) === withoutPort(uri));
}

/** A redirect URI with parameters behind those that it has. */
export function withParameters(uri: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== undefined);
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(given).toString()}`;
}
