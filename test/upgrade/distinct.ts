/** The statements in order, once each: those that differ only in the numbers and times of their text are one. */
export function distinct(texts: readonly string[]): string[] {
  const plain = texts.map((text) =>
    text
      .trim()
      .replaceAll(/'\d{4}-\d\d-\d\dT[\d:.]+Z'/g, "'2026-01-01T00:00:00.000Z'")
      .replaceAll(/'\{[\d,]*\}'/g, "'{}'"),
  );
  const byShape = new Map(plain.toSorted().map((text) => [text.replaceAll(/(?<![\w$.])\d+\b/g, '0'), text]));
  return [...byShape.values()].toSorted();
}
