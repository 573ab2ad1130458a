import { z } from 'zod';
import { changeStreamKind } from '../../kernel/change-stream-kind.ts';
import { stream } from '../../kernel/procedures.ts';
import { lastEventId, StreamOpened, StreamReset } from '../../kernel/streams.ts';
import { timerStarted, timerStopped } from './events.ts';

const TimerEvent = z.discriminatedUnion('type', [
  timerStarted.streamEvent,
  timerStopped.streamEvent,
  StreamReset,
  StreamOpened,
]);

/** The timer of a person, for that person only. */
const timersStream = changeStreamKind('timers', TimerEvent);

export const onMine = stream('time')
  .meta({
    section: 'Additions',
    events: {
      schema: TimerEvent,
      summary: "One's own timer",
      description:
        'It was started or stopped: on any device, or by the service after 24 hours. The task log of its time is an event of its project.',
    },
  })
  .input(z.object({ lastEventId }).optional())
  .subscription(async ({ ctx, input }) => ctx.subscribe(timersStream, ctx.caller.employeeId, input?.lastEventId));
