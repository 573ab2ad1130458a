/** The time; tests replace it. */
export type Clock = { now(): Date };
