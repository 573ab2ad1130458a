import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** What a webhook posts. */
export type Message = {
  /** The same however often it is sent. */
  id: string;
  type: string;
  timestamp: string;
  /** The stream of the event, such as `task 12`, and its number there; a test has neither. */
  stream?: string;
  sequence?: number;
  data: unknown;
};

/** Longer than any message of the service. */
const bodyBytesMax = 128 * 1024;
/** A program that must never do a thing twice keeps these in its database, with what it did. */
const rememberedMax = 10_000;

/**
 * A server that takes the messages of one webhook: what is not signed with its secret is refused, and what has come before is
 * taken and not shown again. It answers as soon as `show` returns, because the service waits for fifteen seconds at most.
 */
export function createReceiver(secret: string, show: (message: Message) => void): Server {
  const webhook = new Webhook(secret);
  const seen = new Set<string>();

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (request.method !== 'POST' || body === undefined) return void response.writeHead(400).end();
    const id = String(request.headers['webhook-id']);
    // The bytes as they came are what is signed; it also refuses what is older than five minutes.
    const content = webhook.verify(body, request.headers as Record<string, string>) as Omit<Message, 'id'>;
    if (!seen.has(id)) show({ id, ...content });
    seen.add(id);
    for (const oldest of seen) {
      if (seen.size <= rememberedMax) break;
      seen.delete(oldest);
    }
    response.writeHead(204).end();
  }

  return createServer((request, response) => {
    receive(request, response).catch((error: unknown) => {
      response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
    });
  });
}

/** The body as text; undefined if it is too long. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bodyBytesMax) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
