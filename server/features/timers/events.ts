import { changeEvent } from '../../kernel/change-event.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { Timer } from './schemas.ts';

export const timerStarted = changeEvent('timer.started', 'Somebody has started their timer.', { timer: Timer });

export const timerStopped = changeEvent(
  'timer.stopped',
  'A timer was stopped or discarded: by its employee, by an admin, or by the service after 24 hours or at an offboarding. `timer` is what it was.',
  {
    timer: Timer,
    taskLogId: idOf('taskLog').nullable().meta({
      description:
        'The task log that was made of its time; null where it was discarded, and where the service ended it on a locked day',
    }),
  },
);
