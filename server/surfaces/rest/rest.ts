import { proceduresOf } from '../../kernel/definitions.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { runChain } from '../../kernel/chain.ts';
import type { Context, Services } from '../../kernel/context.ts';
import { Download } from '../../kernel/wire/download.ts';
import { JsonStream } from '../../kernel/wire/json-stream.ts';
import { ApiError } from '../../errors/api-error.ts';
import { isCompressible } from '../../kernel/operation.ts';
import { toApiError, VALIDATION_FAILED, validationFailed } from '../../errors/errors.ts';
import { bodyBytesMax } from '../http/body.ts';
import { sendDownload, sendPieces } from '../http/send-download.ts';
import { operationsOf, type Operation } from '../../kernel/operations.ts';
import { unwrap } from '../../kernel/wire/identifiers.ts';
import { sendProblem } from '../http/problem.ts';
import { authenticateCaller, requestInfo } from '../http/request-info.ts';

/** Registers one native route for each operation, at its documented path and at the same without the last slash. */
export function registerRest(app: FastifyInstance, router: AnyTRPCRouter, services: Services): Operation[] {
  const operations = operationsOf(router);
  for (const operation of operations) {
    const handler = handlerOf(operation, router, services);
    for (const url of spellings(operation.path)) {
      app.route({
        method: operation.method,
        url,
        bodyLimit: operation.meta.bodyBytesMax ?? bodyBytesMax,
        config: { operation: operation.name },
        ...(needsCaller(operation)
          ? { onRequest: (request, reply, done) => void authenticateCaller(request, reply, services, done) }
          : {}),
        handler,
      });
    }
  }
  return operations;
}

/** Before a body is awaited; where none can come, the operation itself finds out who is calling. */
const needsCaller = ({ method, meta }: Operation): boolean => method !== 'GET' && meta.access !== 'open';

/** `/a/{b}/` as Fastify writes it, with and without the last slash. */
function spellings(path: string): string[] {
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
  return url.endsWith('/') ? [url, url.slice(0, -1)] : [url];
}

/** Work goes on when the caller hangs up: what is half done is not undone by a lost connection. */
const { signal } = new AbortController();

function handlerOf(operation: Operation, router: AnyTRPCRouter, services: Services) {
  const readInput = inputReader(operation);
  const { name: path, type } = operation;
  const procedure = proceduresOf(router).get(path)!;
  const mayCompress = isCompressible(operation.meta);

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      const info = requestInfo(request, reply);
      const ctx: Context = { services, request: { ...info, acceptsDownloads: true, acceptsStreams: true } };
      // Read when the caller is known: what is wrong with a body is told to nobody else.
      const getRawInput = () => readInput(request);
      const { data } = await runChain(procedure, { ctx, path, type, getRawInput, signal, batchIndex: 0 });
      request.mayCompress = mayCompress;
      if (data instanceof Download) await sendDownload(reply, data);
      else if (data instanceof JsonStream) await sendPieces(reply.type('application/json; charset=utf-8'), data.pieces);
      else void reply.type('application/json; charset=utf-8').send(JSON.stringify(data));
    } catch (error) {
      await sendProblem(request, reply, asRest(operation, toApiError(error)));
    }
  }

  // Without a promise: Fastify would take one that is done before the answer has gone out for an answer of nothing.
  return (request: FastifyRequest, reply: FastifyReply): void =>
    void answer(request, reply).catch((error: unknown) => reply.send(error));
}

/** Where the body is one field of the input, an issue's path starts inside the body. */
function asRest({ meta }: Operation, error: ApiError): ApiError {
  const { bodyField } = meta;
  if (bodyField === undefined || !error.issues) return error;
  const issues = error.issues.map((issue) =>
    issue.path[0] === bodyField ? { ...issue, path: issue.path.slice(1) } : issue,
  );
  // Its sentence names the same paths.
  return error.definition === VALIDATION_FAILED
    ? validationFailed(issues)
    : new ApiError(error.definition, { detail: error.message, issues });
}

/**
 * Makes one input of path, query and body. Path and query strings become numbers and flags where the schema wants
 * such, strictly: what is no plain decimal or no `true` or `false` stays a string, and the schema refuses it by name.
 */
function inputReader({ input, pathParameters, method, meta }: Operation): (request: FastifyRequest) => unknown {
  if (!input) return () => undefined;
  const readers = Object.entries(input.shape).map(([name, schema]) => [name, readerOf(unwrap(schema))] as const);
  const ownReaders = readers.filter(([name]) => !pathParameters.includes(name));
  const isUpdate = (method === 'PUT' || method === 'PATCH') && ownReaders.length > 0;
  const pathReaders = readers.filter(([name]) => pathParameters.includes(name));
  const queryReaders = method === 'GET' ? ownReaders : [];

  return (request) => {
    const params = request.params as Record<string, string>;
    const values: Record<string, unknown> = {};
    if (method !== 'GET') Object.assign(values, bodyOf(request.body, meta.bodyField, isUpdate));
    const query = request.query as Record<string, unknown>;
    // An empty parameter is an absent one.
    for (const [name, read] of queryReaders) if (name in query && query[name] !== '') values[name] = read(query[name]);
    for (const [name, read] of pathReaders) values[name] = read(params[name]);
    return values;
  };
}

function bodyOf(body: unknown, bodyField: string | undefined, isUpdate: boolean): Record<string, unknown> {
  if (bodyField !== undefined) return { [bodyField]: body };
  // An update without a body is more likely a mistake than no change.
  if ((body ?? null) === null && !isUpdate) return {};
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw validationFailed([{ path: [], message: 'The body must be a JSON object', code: 'invalid_type' }]);
}

function readerOf(schema: z.core.$ZodType): (value: unknown) => unknown {
  if (schema instanceof z.ZodNumber)
    return (value) => (typeof value === 'string' && /^-?(0|[1-9]\d{0,15})$/.test(value) ? Number(value) : value);
  if (schema instanceof z.ZodBoolean)
    return (value) => (typeof value === 'string' ? (flags.get(value.toLowerCase()) ?? value) : value);
  return (value) => value;
}

const flags = new Map([
  ['true', true],
  ['false', false],
]);
