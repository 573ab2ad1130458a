/* The introduction of the event description. */

export const about = `Changes of tasks, task logs, timers, projects, comments and notifications as events.

### Connecting
The subscriptions are tRPC's, at \`/trpc\`, over two transports with the same events:
* **WebSocket** (\`wsLink\`): connect to \`/trpc?connectionParams=1\` and send the credentials in the first message, as
  \`connectionParams: {accessToken, refreshToken}\` or \`{apiKey}\`. They are good for as long
  as the session is live and the connection open, however old the tokens get; an operation that answers a new session needs the
  current pair, on a new connection. An unauthenticated connection is closed after
  30 seconds. Pages may connect from the service's own origin and from those that the operator allows.
* **Server-sent events** (\`httpSubscriptionLink\`): send the tokens as headers, \`Authorization\` and
  \`X-Refresh-Token\`, which takes an \`EventSource\` that can send headers (a ponyfill such as \`eventsource\`). Tokens in
  the URL are refused: logs and histories store URLs.

### Events
Each event is \`{id, type, at, …}\`. \`id\` grows by one within its stream, in the order in which the changes were
committed; no event is sent before that, and none is lost after it. Over tRPC an event comes as \`{id, data}\`, where
\`data\` is the event and \`id\` is its \`id\` as text.

Events of tasks, task logs, timers and projects are *change events*: each carries who did it, the record as it is after
the change (as it was, where it is deleted), and in \`changes\` the fields that have changed, with both values. A text in them
is cut to 1,000 characters, where \`truncated\` is true. An update that changes nothing has no event.

### Reconnecting
tRPC's clients reconnect by themselves and send their \`lastEventId\`; any node then first sends exactly the missed
events, once each and in order. Events are stored for 7 days: if missed events are gone, or a \`lastEventId\` does not
belong to the stream, the first event is \`stream.reset\`, and the list must be read again.
Without a \`lastEventId\` a subscription begins with the next event. A connection can break before the first
event: a client that must not lose that one begins with \`lastEventId: "now"\` and gets \`stream.opened\` first, from
which it can continue. \`lastEventId: "0"\` begins with the first event of the stream.

### Endings
A subscription ends with an error within 5 seconds after the caller's session or key ends, or its subject is deleted; a
session's end closes its sockets (code 4401). A caller who reads nothing for 10 seconds is cut off, and can reconnect. A service that restarts closes its sockets with code 1012. One session or key may hold 1,000 connections, one
connection 100 subscriptions. A message may have 1 MiB (else code 1009).`;
