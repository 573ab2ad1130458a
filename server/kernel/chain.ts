import { TRPCError, type AnyTRPCProcedure, type AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import { definitionOf, proceduresOf, type Kind } from './definitions.ts';
import { checkDepth } from './wire/canonical-json.ts';
import type { Context } from './context.ts';
import { JsonStream } from './wire/json-stream.ts';
import { parserOf } from './parser.ts';

/*
 * A procedure is a chain of middlewares: authorization, then the checks of the input, the body and the check of its
 * output. tRPC's runner copies the call's options at each middleware, in code for old engines, and awaits several times
 * at each; on a short read that costs more than everything else. Here the checks and the body are one middleware with
 * compiled schemas, and `runChain` replaces tRPC's runner. All transports run the same chains.
 */

/** The options of a call. */
export type Call = {
  ctx: object;
  path: string;
  type: Kind;
  /** The input, or a promise of it if the transport has yet to read it. */
  getRawInput(): unknown;
  signal: AbortSignal | undefined;
  batchIndex: number;
  input?: unknown;
};

/** The signal of calls whose work continues when the caller disconnects: a lost connection does not undo half of it. */
export const { signal: neverAborted } = new AbortController();

/** The result. tRPC's runner turns a thrown error into a failed result; this one lets it be thrown. */
type Outcome = { ok: true; data: unknown };
type Next = (more?: { ctx: object }) => Promise<Outcome>;
type Link = ((call: Call & { meta: unknown; next: Next }) => Promise<Outcome>) & { _type?: string };
type Body = (call: Call) => Promise<unknown>;
type Chain = { meta: unknown; middlewares: Link[]; resolver: Body };

const chainOf = (procedure: AnyTRPCProcedure): Chain => procedure._def as unknown as Chain;

/** Calls a procedure: returns its result or throws its error. */
export const runChain = (procedure: AnyTRPCProcedure, call: Call): Promise<Outcome> =>
  runFrom(chainOf(procedure), 0, call);

function runFrom(chain: Chain, index: number, call: Call): Promise<Outcome> {
  const next: Next = (more) => runFrom(chain, index + 1, more ? { ...call, ctx: { ...call.ctx, ...more.ctx } } : call);
  return chain.middlewares[index]!({ ...call, meta: chain.meta, next });
}

/** Merges the checks and the body of each procedure of a router into one middleware. */
export function shortenChains(router: AnyTRPCRouter): void {
  for (const [name, procedure] of proceduresOf(router)) {
    const { inputs, output } = definitionOf(procedure);
    const { middlewares, resolver } = chainOf(procedure);
    if (!Array.isArray(middlewares) || typeof resolver !== 'function')
      throw new Error(`this tRPC keeps the chain of ${name} in another shape: see docs/decisions/0006`);
    const first = middlewares.findIndex((link) => link._type === 'input' || link._type === 'output');
    if (first === -1) continue;
    const checks = middlewares.slice(first, -1);
    if (inputs.length > 1 || checks.length !== inputs.length + (output ? 1 : 0))
      throw new Error('a procedure has one input and one output, and nothing between these and its body');
    middlewares.splice(first, checks.length + 1, bodyOf(resolver, inputs[0], output));
  }
}

function bodyOf(body: Body, input: z.ZodType | undefined, output: z.ZodType | undefined): Link {
  const parseInput = input && parserOf(input);
  const parseOutput = output && parserOf(output);
  return async (call) => {
    if (parseInput) {
      const given = call.getRawInput();
      // The call object belongs to this middleware alone.
      call.input = read(parseInput, given instanceof Promise ? await given : given);
    }
    const data = await body(call);
    // Its pieces are checked one by one.
    if (data instanceof JsonStream) return { ok: true, data: takesStreams(call) ? data : await data.collect() };
    return { ok: true, data: parseOutput ? checked(parseOutput, data) : data };
  };
}

const takesStreams = ({ ctx }: Call): boolean => (ctx as Context).request.acceptsStreams === true;

function read(parse: (value: unknown) => unknown, given: unknown): unknown {
  checkDepth(given);
  try {
    return parse(given);
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', cause });
  }
}

function checked(parse: (value: unknown) => unknown, answer: unknown): unknown {
  try {
    return parse(answer);
  } catch (cause) {
    throw new TRPCError({ message: 'Output validation failed', code: 'INTERNAL_SERVER_ERROR', cause });
  }
}
