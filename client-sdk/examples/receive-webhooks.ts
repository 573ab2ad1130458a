import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Client, Input } from 'work-management-client';
import { connect, connectionHelp } from './terminal/connection.ts';
import { plainJson, plainLine } from './terminal/plain-text.ts';
import { Problem, UsageProblem } from './terminal/problem.ts';
import { run, type Call } from './terminal/run.ts';
import { createReceiver, type Message } from './webhooks/receiver.ts';

const help = `
Shows the events of the company as a webhook receives them, until Ctrl-C. It makes a webhook for that time, and deletes it.

  node receive-webhooks.ts [options]

Options:
  --port PORT         where it listens on this machine; 8787
  --public-url URL    the URL at which the service reaches it, such as that of a tunnel; http://127.0.0.1:PORT/
  --events TYPES      the types of events, by comma; comment.created
  --test              has a test message sent at the beginning
  --json              a line of JSON for each message

A service sends to addresses of this machine only if it is started with WEBHOOK_ALLOWED_NETWORKS=127.0.0.1. Each message is
verified, and shown once however often it comes. Only admins may make webhooks.
${connectionHelp}`;

const options = {
  port: { type: 'string' },
  'public-url': { type: 'string' },
  events: { type: 'string' },
  test: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

type Events = Input<'webhooks.create'>['events'];

async function main({ values, operands, signal }: Call<typeof options>): Promise<0 | 1> {
  if (operands.length > 0) throw new UsageProblem('It takes options only');
  const port = toPort(values.port ?? '8787');
  const url = values['public-url'] ?? `http://127.0.0.1:${port}/`;
  const events = (values.events ?? 'comment.created').split(',').map((word) => word.trim()) as Events;
  const { client, close } = await connect(values, signal);
  try {
    const webhook = await client.webhooks.create({ url, events, description: 'receive-webhooks.ts' }, { signal });
    const receiver = createReceiver(webhook.secret, (message) =>
      process.stdout.write(`${values.json === true ? plainJson(message) : lineOf(message)}\n`),
    );
    try {
      await listen(receiver, port);
      process.stderr.write(`Webhook ${webhook._id} posts to ${plainLine(url)}: ${plainLine(events.join(', '))}\n`);
      if (values.test === true) await client.webhooks.test({ webhook_id: webhook._id }, { signal });
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      receiver.close();
      receiver.closeAllConnections();
      await remove(client, webhook._id);
    }
  } finally {
    await close();
  }
  return 0;
}

async function listen(receiver: Server, port: number): Promise<void> {
  receiver.listen(port, '127.0.0.1');
  await once(receiver, 'listening').catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'EADDRINUSE' ? new Problem(`Something listens on port ${port} already: choose a --port.`) : error;
  });
}

async function remove(client: Client, webhookId: number): Promise<void> {
  await client.webhooks.delete({ webhook_id: webhookId }, { timeoutMs: 3_000 }).catch(() => {
    process.stderr.write(`Webhook ${webhookId} could not be deleted: delete it yourself.\n`);
  });
}

function lineOf({ type, stream, sequence, data }: Message): string {
  const place = stream === undefined ? '' : ` ${stream} #${sequence}`;
  return plainLine(`${type}${place} ${plainJson(data)}`);
}

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) throw new UsageProblem('The port must be a number to 65535');
  return port;
}

await run(help, options, main);
