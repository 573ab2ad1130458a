/* Names of devices for mails. The caller controls the User-Agent, so none of its text is shown. */

const programs: [RegExp, string][] = [
  [/\bEdgA?\/|\bEdgiOS\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\/|\bChromium\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^python|^aiohttp|^httpx/i, 'a Python program'],
  [/^node\b|^undici|^axios|^Deno|^Bun/, 'a JavaScript program'],
  [/^okhttp|^Dalvik|^Java/i, 'an app'],
  [/CFNetwork|Darwin/, 'an app'],
];

const systems: [RegExp, string][] = [
  [/\biPhone\b|\biPad\b|\biOS\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const nameIn = (names: [RegExp, string][], text: string): string | undefined =>
  names.find(([pattern]) => pattern.test(text))?.[1];

/** The program and its system, such as "Firefox on Linux": the same for all versions. */
export function deviceOf(userAgent: string | null): string {
  const text = (userAgent ?? '').slice(0, 500);
  const program = nameIn(programs, text) ?? 'an unknown program';
  const system = nameIn(systems, text);
  return system === undefined ? program : `${program} on ${system}`;
}
