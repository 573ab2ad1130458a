import { definitionOf, proceduresOf } from '../../kernel/definitions.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import type { oas31 } from 'zod-openapi';
import { errorsOf } from '../../kernel/declared.ts';
import type { OperationMeta } from '../../kernel/operation.ts';
import { about } from './about.ts';
import { legal } from '../openapi/about.ts';
import { keysInWords } from '../openapi/scopes.ts';
import { exampleOf, explained } from '../openapi/schema-descriptions.ts';

type Schema = oas31.SchemaObject;
/** A JSON Schema as Zod generates it. */
type Made = Schema & { definitions?: Record<string, Made>; $schema?: string; id?: string };

/** A subscription, read from the router. */
type Subscription = {
  /** Its name in the router, such as `comments.onTask`. */
  name: string;
  meta: OperationMeta;
  events: NonNullable<OperationMeta['events']>;
  input: z.ZodType;
};

/** The AsyncAPI document: the subscriptions and their events, from the schemas that validate the events. */
export function createAsyncDocument(router: AnyTRPCRouter, publicUrl: string): object {
  const schemas: Record<string, Schema> = {};
  const messages: Record<string, object> = {};
  const channels: Record<string, object> = {};
  const operations: Record<string, object> = {};

  for (const { name, meta, events, input } of subscriptionsOf(router)) {
    const { summary, description, schema } = events;
    const subscribe = `${name}.subscribe`;
    schemas[subscribe] = take(schemas, input, 'input');
    messages[subscribe] = {
      name: subscribe,
      title: `Subscribe to ${name}`,
      summary: 'The `input` of the subscription.',
      payload: { $ref: `#/components/schemas/${subscribe}` },
    };
    const sent = schema.options.map((option) => {
      const { id, description } = option.meta()!;
      take(schemas, option, 'output');
      messages[id!] = { name: id, title: id, summary: description, payload: { $ref: `#/components/schemas/${id}` } };
      return id!;
    });
    const errors = errorsOf(meta).map(({ code, sentence }) => `* \`${code}\`: ${sentence}`);
    const refTo = (message: string) => ({ $ref: `#/channels/${name}/messages/${message}` });
    channels[name] = {
      address: name,
      title: summary,
      description: `${description}\n\n${keysInWords(meta, 'subscription')}\n\nIt can be refused, or ended, with:\n${errors.join('\n')}`,
      messages: Object.fromEntries(
        [subscribe, ...sent].map((message) => [message, { $ref: `#/components/messages/${message}` }]),
      ),
      tags: [{ name: meta.section }],
    };
    const channel = { $ref: `#/channels/${name}` };
    operations[subscribe] = { action: 'receive', channel, summary: 'Begin to listen', messages: [refTo(subscribe)] };
    operations[name] = { action: 'send', channel, summary, messages: sent.map(refTo) };
  }

  for (const [name, schema] of Object.entries(schemas)) schemas[name] = explained(schema, name);
  for (const [name, message] of Object.entries(messages))
    messages[name] = { ...message, examples: [{ payload: exampleOf(schemas[name]!, schemas, name) }] };
  const { license, contact } = legal(publicUrl);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Work Management Service',
      version: '2.0.0',
      description: about,
      license: { name: license.name },
      contact,
    },
    defaultContentType: 'application/json',
    servers: serversOf(publicUrl),
    channels,
    operations,
    components: { schemas, messages, securitySchemes },
  };
}

function subscriptionsOf(router: AnyTRPCRouter): Subscription[] {
  return [...proceduresOf(router)].flatMap(([name, procedure]) => {
    const { type, meta, inputs } = definitionOf(procedure);
    if (type !== 'subscription') return [];
    if (!meta?.events) throw new Error(`${name} does not say what it sends`);
    return [{ name, meta, events: meta.events, input: inputs[0] ?? z.undefined() }];
  });
}

/** A schema as JSON Schema; its shared parts go to the shared schemas. */
function take(shared: Record<string, Schema>, schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { definitions = {}, $schema: _, id: __, ...own } = z.toJSONSchema(schema, { io, target: 'draft-7' }) as Made;
  for (const [name, definition] of Object.entries(definitions)) {
    const { id: _, ...parts } = definition;
    shared[name] = pointed(parts);
  }
  return pointed(own);
}

/** Rewrites references to their place in the document. */
function pointed<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('"#/definitions/', '"#/components/schemas/')) as Value;
}

function serversOf(publicUrl: string): Record<string, object> {
  const { host, pathname, protocol } = new URL(publicUrl);
  const isSecure = protocol === 'https:';
  const where = { host, pathname: `${pathname.replace(/\/$/, '')}/trpc` };
  return {
    websocket: {
      ...where,
      protocol: isSecure ? 'wss' : 'ws',
      description: 'One connection for all subscriptions, queries and mutations.',
      security: [{ $ref: '#/components/securitySchemes/ConnectionParams' }],
    },
    serverSentEvents: {
      ...where,
      protocol: isSecure ? 'https' : 'http',
      description: 'One request for each subscription: `GET /trpc/<name>?input=<JSON>`.',
      security: ['AccessToken', 'RefreshToken', 'ApiKey'].map((name) => ({
        $ref: `#/components/securitySchemes/${name}`,
      })),
    },
  };
}

const securitySchemes = {
  ConnectionParams: {
    type: 'apiKey',
    in: 'password',
    description:
      'The first message, `{"method":"connectionParams","data":{"accessToken":"…","refreshToken":"…"}}`, or `{"apiKey":"wms_…"}`; tRPC’s `connectionParams`.',
  },
  AccessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Together with RefreshToken.' },
  RefreshToken: {
    type: 'httpApiKey',
    in: 'header',
    name: 'X-Refresh-Token',
    description: 'Together with AccessToken.',
  },
  ApiKey: { type: 'http', scheme: 'bearer', description: 'An API key, alone, with the scopes that the channel names.' },
};
