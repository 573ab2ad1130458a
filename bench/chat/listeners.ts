import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { nowMicros, type Arrivals, type Listening, type Session } from './arrivals.ts';

/*
 * The subscribers of a task: many connections, in a separate process, so that they do not use the service's time. They
 * read the number of each event and record its arrival.
 */

/** How many connections are opened at once. */
const openedAtOnce = 50;

async function listen({ url, taskId, webSockets, eventStreams, stalled, others, sessions }: Listening): Promise<void> {
  const wanted = { webSockets, eventStreams };
  const arrived = new Map<number, Arrivals>();
  function note(kind: 'webSockets' | 'eventStreams', eventId: number): void {
    const arrivals = arrived.get(eventId) ?? { eventId, webSockets: [], eventStreams: [] };
    arrived.set(eventId, arrivals);
    arrivals[kind].push(nowMicros());
    if (arrivals.webSockets.length < wanted.webSockets || arrivals.eventStreams.length < wanted.eventStreams) return;
    arrived.delete(eventId);
    process.send!(arrivals);
  }

  const comments = { path: 'comments.onTask', input: { taskId } };
  const many = (length: number, open: (session: Session) => Promise<unknown>) => Array.from({ length }, () => open);
  const openers = [
    ...many(others, (session) => openWebSocket(session, { path: 'notifications.onMine', input: {} })),
    ...many(stalled, async (session) => {
      const { socket } = await openWebSocket(session, comments);
      socket.pause();
    }),
    ...many(webSockets, async (session) => {
      const { onEvent } = await openWebSocket(session, comments);
      onEvent((id) => note('webSockets', id));
    }),
    ...many(eventStreams, overEvents),
  ];
  for (let opened = 0; opened < openers.length; opened += openedAtOnce) {
    const some = openers.slice(opened, opened + openedAtOnce);
    await Promise.all(some.map((open, nth) => open(sessions[(opened + nth) % sessions.length]!)));
    process.send!({ opened: opened + some.length });
  }

  async function openWebSocket(session: Session, params: object) {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/trpc?connectionParams=1`);
    await once(socket, 'open');
    socket.send(JSON.stringify({ method: 'connectionParams', data: session }));
    socket.send(JSON.stringify({ id: 1, method: 'subscription', params }));
    const [first] = (await once(socket, 'message')) as [Buffer];
    if (!String(first).includes('"started"')) throw new Error(`no subscription: ${String(first)}`);
    let hear = (_id: number): void => {};
    socket.on('message', (data: Buffer) => {
      const text = String(data);
      if (text === 'PING') socket.send('PONG');
      else hear(Number(/"id":"(\d+)"/.exec(text)![1]));
    });
    return { socket, onEvent: (listener: (id: number) => void) => void (hear = listener) };
  }

  async function overEvents(session: Session): Promise<void> {
    const input = encodeURIComponent(JSON.stringify({ taskId }));
    const call = request(`${url}/trpc/comments.onTask?input=${input}`, {
      agent: false,
      headers: { ...session, accept: 'text/event-stream' },
    }).end();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    if (answer.statusCode !== 200) throw new Error(`no events: ${answer.statusCode}`);
    // The event that says that it has begun comes first.
    await once(answer, 'data');
    let rest = '';
    answer.on('data', (chunk: Buffer) => {
      const lines = `${rest}${String(chunk)}`.split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line.startsWith('id: ')) note('eventStreams', Number(line.slice(4)));
    });
  }
}

process.on('message', (listening: Listening) => {
  listen(listening).then(
    () => process.send!({ isReady: true }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
