/*
 * The end of a turn of the event loop is when all sockets that had something to say have been heard. What is gathered
 * until then is asked of the database together, and what it leads to leaves in the same turn.
 */

let due: (() => void)[] | undefined;
let isEnding = false;

/** Runs a task at the end of this turn, and at once after the others where that has begun. A task does not throw. */
export function atEndOfTurn(task: () => void): void {
  if (due) {
    due.push(task);
    return;
  }
  const tasks = (due = [task]);
  setImmediate(() => end(tasks));
}

/** Runs what waits for the end of this turn without waiting for it: where enough has been gathered. */
export function endTurnNow(): void {
  if (due && !isEnding) end(due);
}

function end(tasks: (() => void)[]): void {
  // They were run before.
  if (due !== tasks) return;
  isEnding = true;
  try {
    // They grow while they are run.
    for (const one of tasks) one();
  } finally {
    isEnding = false;
    due = undefined;
  }
}
