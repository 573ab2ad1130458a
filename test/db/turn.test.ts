import { expect, test } from 'vitest';
import { atEndOfTurn, endTurnNow } from '../../db/turn.ts';

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

test('whoever has gathered enough ends a turn, and what comes after has a turn of its own', async () => {
  const done: string[] = [];
  atEndOfTurn(() => {
    done.push('first');
    endTurnNow();
    atEndOfTurn(() => done.push('asked for by the first'));
  });
  atEndOfTurn(() => done.push('second'));
  endTurnNow();
  expect(done).toEqual(['first', 'second', 'asked for by the first']);
  atEndOfTurn(() => done.push('third'));
  expect(done).not.toContain('third');
  await new Promise((resolve) => setImmediate(resolve));
  expect(done.slice(3)).toEqual(['third']);
});
