import { router } from '../../kernel/trpc.ts';
import { discardTimer } from './discard-timer.ts';
import { getTimer } from './get-timer.ts';
import { onMine } from './on-mine.ts';
import { startTimer } from './start-timer.ts';
import { stopTimer } from './stop-timer.ts';

export const timers = router({
  start: startTimer,
  stop: stopTimer,
  discard: discardTimer,
  get: getTimer,
  onMine,
});
