import { expect, test } from 'vitest';
import { atEndOfTurn } from '../../db/turn.ts';

test('what a task asks for is done in the same turn, and what others ask for in the meantime after it', async () => {
  const done: string[] = [];
  const ended = new Promise<void>((resolve) => {
    atEndOfTurn(() => {
      done.push('first');
      setImmediate(() => {
        done.push('next turn');
        resolve();
      });
      atEndOfTurn(() => done.push('asked for by the first'));
    });
  });
  atEndOfTurn(() => done.push('second'));
  done.push('now');
  await ended;
  expect(done).toEqual(['now', 'first', 'second', 'asked for by the first', 'next turn']);
});

test('a later turn begins anew', async () => {
  const turn = () => new Promise<string>((resolve) => atEndOfTurn(() => resolve('ended')));
  expect([await turn(), await turn()]).toEqual(['ended', 'ended']);
});
