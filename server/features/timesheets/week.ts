const dayMs = 24 * 3600 * 1000;

/** The ISO week of a day: it begins on Monday and belongs to the year of its Thursday. */
export function weekOf(day: string): { week: string; monday: string; dates: string[] } {
  const at = new Date(`${day}T00:00:00Z`);
  const mondayMs = at.getTime() - ((at.getUTCDay() + 6) % 7) * dayMs;
  const thursday = new Date(mondayMs + 3 * dayMs);
  const year = thursday.getUTCFullYear();
  const newYear = new Date(thursday);
  newYear.setUTCMonth(0, 1);
  const number = 1 + Math.floor((thursday.getTime() - newYear.getTime()) / (7 * dayMs));
  const dates = Array.from({ length: 7 }, (_, index) => new Date(mondayMs + index * dayMs).toISOString().slice(0, 10));
  return {
    week: `${String(year).padStart(4, '0')}-W${String(number).padStart(2, '0')}`,
    monday: dates[0]!,
    dates,
  };
}
