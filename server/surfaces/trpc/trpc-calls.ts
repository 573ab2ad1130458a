import { definitionOf, proceduresOf } from '../../kernel/definitions.ts';
import { getTRPCErrorFromUnknown, type AnyTRPCProcedure, type AnyTRPCRouter } from '@trpc/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { neverAborted, runChain } from '../../kernel/chain.ts';
import type { Context, Services } from '../../kernel/context.ts';
import type { ApiError } from '../../errors/api-error.ts';
import { toApiError } from '../../errors/errors.ts';
import { JsonStream } from '../../kernel/wire/json-stream.ts';
import { isCompressible } from '../../kernel/operation.ts';
import { trpcErrorOf } from '../../kernel/trpc.ts';
import { addVary } from '../http/compression.ts';
import { sendPieces } from '../http/send-download.ts';
import { calledPaths, headersOf, logTrpcFailure } from './trpc-answers.ts';
import { requestInfo } from '../http/request-info.ts';

/*
 * The fast path for simple calls over tRPC: queries by GET and mutations by POST, one or a batch of them, with JSON in
 * and out. It answers as tRPC's own handler does, byte for byte, without converting to Request and Response.
 * `readCalls` returns undefined for any other or malformed request, which tRPC's own handler then answers.
 */

type Called = { path: string; procedure: AnyTRPCProcedure; type: 'query' | 'mutation' };
export type Calls = { isBatch: boolean; calls: (Called & { input: unknown })[] };

export type ReadCalls = (request: FastifyRequest) => Calls | undefined;

export function readerOfCalls(router: AnyTRPCRouter, batchMax: number): ReadCalls {
  const known = new Map<string, Called>();
  for (const [path, procedure] of proceduresOf(router)) {
    const { type } = definitionOf(procedure);
    if (type !== 'subscription') known.set(path, { path, procedure, type });
  }

  return (request) => {
    const kind = kindOf(request);
    const { batch, input } = request.query as Record<string, unknown>;
    if (kind === undefined || Array.isArray(batch)) return undefined;
    const isBatch = batch === '1';
    const paths = isBatch ? calledPaths(request) : [(request.params as { path: string }).path];
    const calls = paths.map((path) => known.get(path));
    if (calls.length > batchMax || !calls.every((call): call is Called => call?.type === kind)) return undefined;
    // This server and tRPC differ in decoding an invalid URL: a percent sign remains.
    if (kind === 'query' && String(input).includes('%')) return undefined;
    const inputs = inputsOf(kind === 'query' ? input : request.body, isBatch);
    return inputs && { isBatch, calls: calls.map((call, index) => ({ ...call, input: inputs[index] })) };
  };
}

function kindOf({ method, headers }: FastifyRequest): Called['type'] | undefined {
  if (headers['trpc-accept'] !== undefined || headers.accept?.includes('jsonl')) return undefined;
  const mediaType = headers['content-type'];
  const isJson = mediaType?.split(';', 1)[0]!.trim().toLowerCase() === 'application/json';
  if (method === 'GET' && (isJson || mediaType === undefined)) return 'query';
  return method === 'POST' && isJson ? 'mutation' : undefined;
}

/** The inputs by position; undefined if they cannot be read. */
function inputsOf(given: unknown, isBatch: boolean): Record<number, unknown> | undefined {
  if (given === undefined || given === '') return {};
  if (typeof given !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(given);
    if (!isBatch) return [parsed];
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as Record<number, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const asItIs = (text: string): string => text;

type Answer = {
  status: number;
  body: { result: { data: unknown } } | { error: ReturnType<typeof trpcErrorOf> };
  error?: ApiError;
};

/** Runs the calls of one request concurrently, and answers them together. */
export async function answerCalls(
  { isBatch, calls }: Calls,
  { request, reply, services }: { request: FastifyRequest; reply: FastifyReply; services: Services },
): Promise<void> {
  const ctx: Context = { services, request: { ...requestInfo(request, reply), acceptsStreams: true } };

  async function answer({ path, procedure, type, input }: Calls['calls'][number], batchIndex: number): Promise<Answer> {
    try {
      const getRawInput = () => input;
      const { data } = await runChain(procedure, { ctx, path, type, getRawInput, signal: neverAborted, batchIndex });
      return { status: 200, body: { result: { data } } };
    } catch (cause) {
      const error = getTRPCErrorFromUnknown(cause);
      logTrpcFailure(request, error, path);
      const apiError = toApiError(error);
      const body = { error: trpcErrorOf(apiError, request.id, path) };
      return { status: apiError.definition.status, body, error: apiError };
    }
  }

  const answers = await Promise.all(calls.map(answer));
  const { status, body } = answers[0]!;
  void reply.headers(headersOf(answers.flatMap(({ error }) => error ?? [])));
  addVary(reply, 'trpc-accept, accept');
  request.mayCompress = calls.every(({ procedure }) => isCompressible(definitionOf(procedure).meta!));
  void reply
    .status(answers.every((one) => one.status === status) ? status : 207)
    .header('content-type', 'application/json')
    // Fastify would add a charset.
    .serializer(asItIs);
  const bodies = answers.map((one) => one.body);
  if (bodies.some(isStreamed)) return sendPieces(reply, piecesOf(bodies, isBatch));
  void reply.send(JSON.stringify(isBatch ? bodies : body));
}

const isStreamed = (body: Answer['body']): body is { result: { data: JsonStream } } =>
  'result' in body && body.result.data instanceof JsonStream;

/** The same JSON, with long answers in pieces. */
async function* piecesOf(bodies: Answer['body'][], isBatch: boolean): AsyncGenerator<string> {
  let lead = isBatch ? '[' : '';
  for (const body of bodies) {
    if (isStreamed(body)) {
      yield `${lead}{"result":{"data":`;
      yield* body.result.data.pieces;
      yield '}}';
    } else yield lead + JSON.stringify(body);
    lead = ',';
  }
  if (isBatch) yield ']';
}
