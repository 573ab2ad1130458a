import { proceduresOf } from '../../kernel/definitions.ts';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { neverAborted, runChain } from '../../kernel/chain.ts';
import type { Context, Services } from '../../kernel/context.ts';
import { Download } from '../../kernel/wire/download.ts';
import { JsonStream } from '../../kernel/wire/json-stream.ts';
import type { ApiError } from '../../errors/api-error.ts';
import { isCompressible } from '../../kernel/operation.ts';
import { invalid, toApiError, withIssues } from '../../errors/errors.ts';
import { bodyBytesMax } from '../http/body.ts';
import { sendDownload, sendPieces } from '../http/send-download.ts';
import { operationsOf, type Operation } from '../../kernel/operations.ts';
import { unwrap } from '../../kernel/wire/identifiers.ts';
import { sendProblem } from '../http/problem.ts';
import { authenticateCaller, requestInfo } from '../http/request-info.ts';

/**
 * Registers one native route for each operation, at its documented path and at the same path without the last slash.
 */
export function registerRest(app: FastifyInstance, router: AnyTRPCRouter, services: Services): Operation[] {
  const operations = operationsOf(router);
  const procedures = proceduresOf(router);
  for (const operation of operations) {
    const handler = handlerOf(operation, procedures.get(operation.name)!, services);
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

/** Whether the caller is authenticated before the body is read; without a body the operation itself does it. */
const needsCaller = ({ method, meta }: Operation): boolean => method !== 'GET' && meta.access !== 'open';

/** `/a/{b}/` as Fastify writes it, with and without the last slash. */
function spellings(path: string): string[] {
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
  return url.endsWith('/') ? [url, url.slice(0, -1)] : [url];
}

function handlerOf(operation: Operation, procedure: AnyTRPCProcedure, services: Services) {
  const readInput = inputReader(operation);
  const { name: path, type } = operation;
  const mayCompress = isCompressible(operation.meta);

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      const info = requestInfo(request, reply);
      const ctx: Context = {
        services,
        request: { ...info, transport: 'rest', acceptsDownloads: true, acceptsStreams: true },
      };
      // Read after authentication: only an authenticated caller gets the issues of a body.
      const getRawInput = () => readInput(request);
      // The chain reads the input of an operation that has one.
      if (!operation.input) getRawInput();
      const { data } = await runChain(procedure, { ctx, path, type, getRawInput, signal: neverAborted, batchIndex: 0 });
      request.mayCompress = mayCompress;
      if (data instanceof Download) await sendDownload(reply, data);
      else if (data instanceof JsonStream) await sendPieces(reply.type('application/json; charset=utf-8'), data.pieces);
      else void reply.type('application/json; charset=utf-8').send(JSON.stringify(data));
    } catch (error) {
      await sendProblem(request, reply, asRest(operation, toApiError(error)));
    }
  }

  // Not async: Fastify would take a promise that resolves before the answer is sent for an empty answer.
  return (request: FastifyRequest, reply: FastifyReply): void =>
    void answer(request, reply).catch((error: unknown) => reply.send(error));
}

/** If the body is one field of the input, the path of an issue starts inside the body. */
function asRest({ meta }: Operation, error: ApiError): ApiError {
  const { bodyField } = meta;
  if (bodyField === undefined) return error;
  return withIssues(error, (issue) => (issue.path[0] === bodyField ? { ...issue, path: issue.path.slice(1) } : issue));
}

/**
 * Builds one input from path, query and body. Strings of path and query become numbers and booleans if the schema
 * expects them, strictly: other strings than plain decimals, `true` and `false` stay strings, and the schema refuses
 * them by name.
 */
function inputReader({ input, pathParameters, method, meta }: Operation): (request: FastifyRequest) => unknown {
  if (!input) return (request) => void bodyOf(request.body, undefined, false);
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
    // An empty parameter counts as absent.
    for (const [name, read] of queryReaders) if (name in query && query[name] !== '') values[name] = read(query[name]);
    for (const [name, read] of pathReaders) values[name] = read(params[name]);
    return values;
  };
}

function bodyOf(body: unknown, bodyField: string | undefined, isUpdate: boolean): Record<string, unknown> {
  if (bodyField !== undefined) return { [bodyField]: body };
  // An update without a body is more likely a mistake than an empty change.
  if ((body ?? null) === null && !isUpdate) return {};
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw invalid([], 'must be a JSON object', 'invalid_type');
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
