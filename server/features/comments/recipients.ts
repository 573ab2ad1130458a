/** Everybody involved in an event of a comment. */
export type Audience = {
  /** The actor, who gets no notification of their own act. */
  actorId: number;
  mentionedIds: readonly number[];
  /** The owner and the collaborators of the task, the author of the comment that was replied to. */
  involvedIds: readonly (number | null)[];
  /** Those of them who are active employees. */
  activeIds: ReadonlySet<number>;
};

/** The recipients, each once: a mentioned person is notified of the mention only. */
export function recipientsOf(audience: Audience): { mentioned: number[]; involved: number[] } {
  const { actorId, mentionedIds, involvedIds, activeIds } = audience;
  const told = new Set([actorId]);
  const take = (ids: readonly (number | null)[]): number[] =>
    ids.filter((employeeId): employeeId is number => {
      if (employeeId === null || told.has(employeeId) || !activeIds.has(employeeId)) return false;
      told.add(employeeId);
      return true;
    });
  return { mentioned: take(mentionedIds), involved: take(involvedIds) };
}
