/** What an agent must know of the present: models know neither the day nor where people are. */
export function withPresent(result: Record<string, unknown>, now: Date): Record<string, unknown> {
  const { timezone } = result['company'] as { timezone: string };
  return { ...result, now: now.toISOString(), local_time: localTime(now, timezone), weekday: weekday(now, timezone) };
}

/** ISO 8601 in a time zone, with its offset at that moment. */
function localTime(now: Date, timeZone: string): string {
  const written = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(now);
  const zone = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(now);
  const offset = zone.find(({ type }) => type === 'timeZoneName')!.value.slice('GMT'.length);
  return `${written.replace(' ', 'T')}${offset === '' ? '+00:00' : offset}`;
}

const weekday = (now: Date, timeZone: string): string =>
  new Intl.DateTimeFormat('en', { timeZone, weekday: 'long' }).format(now);
