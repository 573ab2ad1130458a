/** Hours to two decimals. */
export function hoursOf(seconds: number): number {
  return Math.round(seconds / 36) / 100;
}
