import { transactionOf } from '../scope.ts';
import type { Db } from '../transaction.ts';

/** Each asks for one statement, or answers without one. A second statement of the same step has no place in the order. */
export type Steps<Answers extends readonly unknown[]> = {
  readonly [Index in keyof Answers]: () => Answers[Index] | Promise<Answers[Index]>;
};

/**
 * Runs statements of one transaction in the order of the list, so that row locks are taken in that order, and waits for
 * their answers together: they share a round trip. Each step begins when the statement of the one before it has been sent,
 * however much that one awaited before.
 */
export async function inOrder<const Answers extends readonly unknown[]>(
  db: Db,
  steps: Steps<Answers>,
): Promise<Answers> {
  return Promise.all(await sendInOrder(db, steps)) as Promise<unknown> as Promise<Answers>;
}

/** The same up to where all statements have been sent; rejects where one failed before. */
export async function sendInOrder(db: Db, steps: readonly (() => unknown)[]): Promise<Promise<unknown>[]> {
  const answers: Promise<unknown>[] = [];
  for (const step of steps) {
    const sent = nextStatement(db);
    const answer = (async () => step())();
    // Its failure is told by whoever awaits all answers.
    answer.catch(() => {});
    answers.push(answer);
    await Promise.race([sent, answer]);
  }
  return answers;
}

/** Those who wait until a transaction sends its next statement. */
const waiting = new WeakMap<Db, (() => void)[]>();

function nextStatement(db: Db): Promise<void> {
  const transaction = transactionOf(db);
  return new Promise((resolve) => {
    const others = waiting.get(transaction);
    if (others) others.push(resolve);
    else waiting.set(transaction, [resolve]);
  });
}

/** Called by the transaction whenever it has handed a statement to its connection. */
export function noteSent(transaction: Db): void {
  for (const resume of waiting.get(transaction)?.splice(0) ?? []) resume();
}
