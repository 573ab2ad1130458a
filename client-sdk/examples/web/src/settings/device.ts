/* What a User-Agent says, in words. */

const programs: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^Mozilla\//, 'A browser'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** `Firefox on Linux`; of a program that is no browser, its own name. */
export function deviceOf(userAgent: string | null): string {
  const text = userAgent ?? '';
  const find = (names: typeof programs): string | undefined => names.find(([pattern]) => pattern.test(text))?.[1];
  const program = find(programs) ?? /^[\w.-]{1,40}/.exec(text)?.[0] ?? 'An unknown device';
  const system = find(systems);
  return system === undefined ? program : `${program} on ${system}`;
}
