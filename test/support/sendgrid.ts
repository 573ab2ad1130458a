import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** What becomes of a request that is in order. */
export type Behaviour =
  /** Taken; `answerAfterMs` later the sender is told. */
  | { kind: 'take'; answerAfterMs?: number }
  | { kind: 'refuse'; status: number; headers?: Record<string, string>; body?: unknown }
  /** Never answered. */
  | { kind: 'hang' }
  /** A byte now and then, and no end. */
  | { kind: 'drip' }
  /** The connection breaks in the middle of the answer, or before any where no status is given; 202 was taken. */
  | { kind: 'drop'; status?: number };

export type Taken = {
  to: string;
  from: { email: string; name?: string };
  subject: string;
  text: string;
  html: string;
  template: string;
  idempotencyKey: string;
};

/** A server that takes mail as SendGrid's v3 API does, and refuses what that would refuse. */
export type SendGridServer = {
  url: string;
  /** What it took, the oldest first. */
  readonly taken: Taken[];
  /** What was wrong with requests, in words. */
  readonly problems: string[];
  /** Requests that came, in order or not. */
  countRequests(): number;
  /** Requests that wait for the end of their answer. */
  countOpen(): number;
  behave(behaviour: Behaviour | ((request: number) => Behaviour)): void;
  /** Breaks every connection, and with it what was left hanging. */
  breakOff(): void;
  close(): Promise<void>;
};

const address = z.strictObject({ email: z.email(), name: z.string().optional() });
const off = z.literal(false);
const part = <Type extends string>(type: Type) => z.strictObject({ type: z.literal(type), value: z.string().min(1) });

/** A message as this service sends it; strict, so that a misspelt field is a problem. */
const Message = z.strictObject({
  personalizations: z.tuple([z.strictObject({ to: z.tuple([address]) })]),
  from: address,
  subject: z.string().regex(/^[^\r\n]{1,200}$/),
  // Plain text must come first.
  content: z.tuple([part('text/plain'), part('text/html')]),
  categories: z.array(z.string().min(1).max(255)).max(10),
  custom_args: z.strictObject({ idempotencyKey: z.string().min(1).max(1000) }),
  tracking_settings: z.strictObject({
    click_tracking: z.strictObject({ enable: off, enable_text: off }),
    open_tracking: z.strictObject({ enable: off }),
  }),
});

export async function startSendGrid(apiKey: string): Promise<SendGridServer> {
  const taken: Taken[] = [];
  const problems: string[] = [];
  const open = new Set<ServerResponse>();
  let requests = 0;
  let behaviourOf: (request: number) => Behaviour = () => ({ kind: 'take' });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    const behaviour = behaviourOf(requests);
    open.add(response);
    response.once('close', () => open.delete(response));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const read = readRequest(request, Buffer.concat(chunks).toString(), apiKey);
    if ('status' in read) {
      problems.push(read.message);
      refuse(response, { status: read.status, body: { errors: [{ message: read.message, field: null, help: null }] } });
      return;
    }
    carryOut(behaviour, response, () => taken.push(read.message));
  }

  const server = createServer((request, response) => {
    // A sender that is gone breaks off its request.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    problems,
    countRequests: () => requests,
    countOpen: () => open.size,
    behave(behaviour) {
      behaviourOf = typeof behaviour === 'function' ? behaviour : () => behaviour;
    },
    breakOff: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function readRequest(
  { method, url, headers }: IncomingMessage,
  body: string,
  apiKey: string,
): { message: Taken } | { status: number; message: string } {
  if (headers.authorization !== `Bearer ${apiKey}`)
    return { status: 401, message: 'The provided authorization grant is invalid, expired, or revoked' };
  if (url !== '/v3/mail/send') return { status: 404, message: `not found: ${url}` };
  if (method !== 'POST') return { status: 405, message: `method not allowed: ${method}` };
  if (headers['content-type'] !== 'application/json')
    return { status: 415, message: `unsupported media type: ${headers['content-type']}` };
  const { success, data, error } = Message.safeParse(parseJson(body));
  if (!success) return { status: 400, message: z.prettifyError(error) };
  return {
    message: {
      to: data.personalizations[0].to[0].email,
      from: data.from,
      subject: data.subject,
      text: data.content[0].value,
      html: data.content[1].value,
      template: data.categories[0] ?? '',
      idempotencyKey: data.custom_args.idempotencyKey,
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function carryOut(behaviour: Behaviour, response: ServerResponse, take: () => void): void {
  switch (behaviour.kind) {
    case 'take':
      take();
      setTimeout(() => response.writeHead(202, { 'x-message-id': 'a' }).end(), behaviour.answerAfterMs ?? 0).unref();
      return;
    case 'refuse':
      refuse(response, behaviour);
      return;
    case 'hang':
      return;
    case 'drip': {
      response.writeHead(500, { 'content-type': 'text/plain' });
      const dripping = setInterval(() => response.write('.'), 20);
      response.once('close', () => clearInterval(dripping));
      return;
    }
    case 'drop':
      if (behaviour.status === undefined) {
        response.destroy();
        return;
      }
      if (behaviour.status === 202) take();
      response.writeHead(behaviour.status, { 'content-length': '1000' });
      response.write('only the beginning', () => response.destroy());
      return;
    default:
      behaviour satisfies never;
  }
}

function refuse(
  response: ServerResponse,
  { status, headers = {}, body = '' }: { status: number; headers?: Record<string, string>; body?: unknown },
): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
