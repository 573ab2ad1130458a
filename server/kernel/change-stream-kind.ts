import type { z } from 'zod';
import type { StreamEvent, StreamKind } from './streams.ts';

/**
 * A kind of stream of change events. They are stored as subscribers receive them, so nothing is looked up; `findReadable`
 * says which of the streams can still be read.
 */
export function changeStreamKind<Event extends StreamEvent>(
  name: string,
  event: z.ZodType<Event>,
  findReadable?: StreamKind<Event>['findReadable'],
): StreamKind<Event> {
  return {
    name,
    event,
    toEvents: async (_services, _companyId, stored) =>
      stored.map(({ sequence: id, type, at, payload }) => ({ ...(payload as object), id, type, at })),
    estimateBytes: async (_db, _companyId, stored) => stored.map(({ payload }) => JSON.stringify(payload).length),
    findReadable,
  };
}
