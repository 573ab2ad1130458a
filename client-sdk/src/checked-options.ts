/* Checks the options of a client at once: later they would fail with unclear errors. */

const example = 'such as https://api.example.com';

/** The address of the service without its last slash; in a browser it may be relative to the page. */
export function checkedBaseUrl(given: string | undefined): string {
  const baseUrl = (given ?? '').trim();
  if (baseUrl === '') throw new TypeError(`The baseUrl is empty: give the address of the service, ${example}.`);
  const { location } = globalThis as { location?: { href: string } };
  const url = URL.canParse(baseUrl, location?.href) ? new URL(baseUrl, location?.href) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError(`The baseUrl "${baseUrl}" is no address of a service: write it whole, ${example}.`);
  if (url.username !== '' || url.password !== '')
    throw new TypeError('The baseUrl holds a name or a password, which are not sent: leave them out of it.');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** An API key, or none. Messages never repeat it. */
export function checkedApiKey(apiKey: string | undefined): string | undefined {
  if (apiKey === undefined || /^wms_[\w-]+$/.test(apiKey)) return apiKey;
  const problem = apiKey.trim() === '' ? 'is empty' : 'is no key of this service, or has something before or after it';
  throw new TypeError(`The apiKey ${problem}: give it as it was shown (wms_…), or leave it out and sign in.`);
}
