import { transactionOf } from '../scope.ts';
import type { Db } from '../transaction.ts';

/** Each step sends one statement, or answers without one. The order holds for the first statement of a step only. */
export type Steps<Answers extends readonly unknown[]> = {
  readonly [Index in keyof Answers]: () => Answers[Index] | Promise<Answers[Index]>;
};

/**
 * Runs statements of one transaction in the order of the list, so that row locks are taken in that order, and awaits
 * their answers together: they share a round trip. A step begins when the statement of the step before it has been
 * sent.
 */
export async function inOrder<const Answers extends readonly unknown[]>(
  db: Db,
  steps: Steps<Answers>,
): Promise<Answers> {
  return Promise.all(await sendInOrder(db, steps)) as Promise<unknown> as Promise<Answers>;
}

/** The same until all statements have been sent; rejects if one failed before. */
export async function sendInOrder(db: Db, steps: readonly (() => unknown)[]): Promise<Promise<unknown>[]> {
  const answers: Promise<unknown>[] = [];
  for (const step of steps) {
    const sent = nextStatement(db);
    const answer = (async () => step())();
    // The caller awaits all answers and sees the failure.
    answer.catch(() => {});
    answers.push(answer);
    await Promise.race([sent, answer]);
  }
  return answers;
}

/** Callbacks that wait until a transaction sends its next statement. */
const waiting = new WeakMap<Db, (() => void)[]>();

function nextStatement(db: Db): Promise<void> {
  const transaction = transactionOf(db);
  return new Promise((resolve) => {
    const others = waiting.get(transaction);
    if (others) others.push(resolve);
    else waiting.set(transaction, [resolve]);
  });
}

/** The transaction calls it after handing a statement to its connection. */
export function noteSent(transaction: Db): void {
  for (const resume of waiting.get(transaction)?.splice(0) ?? []) resume();
}
