/* What the bench and those who listen for it tell each other. */

/** What proves who is calling. */
export type Session = { authorization: string; 'x-refresh-token': string };

export type Listening = {
  url: string;
  taskId: number;
  webSockets: number;
  eventStreams: number;
  /** WebSockets that listen to the task and read nothing. */
  stalled: number;
  /** WebSockets that listen to something else. */
  others: number;
  /** Headers of one session each; connections take them in turns. */
  sessions: Session[];
};

/** Microseconds of the machine's clock that no process sets; event by event, for each connection when it came. */
export type Arrivals = { eventId: number; webSockets: number[]; eventStreams: number[] };

export const nowMicros = (): number => Number(process.hrtime.bigint() / 1_000n);
