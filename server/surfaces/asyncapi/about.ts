/* The introduction of the event description. */

export const about = `What happens to comments and notifications, told as it happens.

### Connecting
The subscriptions are tRPC's, at \`/trpc\`, in two ways that send the same events:
* **WebSocket** (\`wsLink\`): connect to \`/trpc?connectionParams=1\` and send who is calling in the first message, as
  \`connectionParams: {accessToken, refreshToken}\` or \`{apiKey}\`. A connection on which nobody has signed in is closed
  after 30 seconds. Pages may connect from the service's own origin and from those that the operator lists.
* **Server-sent events** (\`httpSubscriptionLink\`): send the tokens as headers, \`Authorization\` and
  \`X-Refresh-Token\`, which takes an \`EventSource\` that can send headers (a ponyfill such as \`eventsource\`). Tokens in
  the URL are refused: URLs are kept in logs and histories.

### Events
Each event is \`{id, type, at, …}\`. \`id\` grows by one within its stream, in the order in which the changes were
committed; no event is sent before that, and none is lost after it. Over tRPC an event comes as \`{id, data}\`, where
\`data\` is the event and \`id\` is its \`id\` as text.

### Coming back
tRPC's clients reconnect by themselves and say the \`lastEventId\` that they have; then exactly what they missed is sent
first, once each and in order, by whichever node they reach. Events are kept for 7 days: where what was missed is gone,
or a \`lastEventId\` is none of the stream's, the first event is \`stream.reset\`, and the list must be read again.
Without a \`lastEventId\` a subscription begins with what happens from now on. A connection can break before the first
event: a client that must not lose that one begins with \`lastEventId: "now"\` and gets \`stream.opened\` first, from
which their client can come back. \`lastEventId: "0"\` begins with the first event of the stream.

### Endings
A subscription ends with a refusal within 5 seconds when the caller's session or key ends, or what it is about is
deleted; a session's end closes its sockets (code 4401). A caller who takes nothing for 10 seconds is cut off, and can
come back. A service that restarts closes its sockets with code 1012. One session or key may hold 1,000 connections, one
connection 100 subscriptions. A message may have 1 MiB (else code 1009).`;
