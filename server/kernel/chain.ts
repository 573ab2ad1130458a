import { getTRPCErrorFromUnknown, TRPCError, type AnyTRPCProcedure, type AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import { parserOf } from './parser.ts';

/*
 * Vocabulary. A procedure is a chain of links, each of which runs the next: who may call, then the checks of the input,
 * the body and the check of its output. tRPC runs it by copying all that is known of the call at each link, in code for
 * old engines; on a short read that costs more than all else. Here the checks and the body are one link, with the
 * schemas compiled, and `runChain` does what tRPC's own runner does. Every door runs the same chains.
 */

/** What is known of a call. */
export type Call = {
  ctx: object;
  path: string;
  type: 'query' | 'mutation' | 'subscription';
  getRawInput(): Promise<unknown>;
  signal: AbortSignal | undefined;
  batchIndex: number;
  input?: unknown;
};

type Outcome = { ok: true; data: unknown } | { ok: false; error: TRPCError };
type Next = (more?: { ctx?: object; input?: unknown; getRawInput?: Call['getRawInput'] }) => Promise<Outcome>;
type Link = ((call: Call & { meta: unknown; next: Next }) => Promise<Outcome>) & { _type?: string };
type Definition = { meta: unknown; inputs: z.ZodType[]; output?: z.ZodType; middlewares: Link[] };

const definitionOf = (procedure: AnyTRPCProcedure): Definition => procedure._def as unknown as Definition;

/** Calls a procedure: answers what it does, throws what it refuses with. */
export async function runChain(procedure: AnyTRPCProcedure, call: Call): Promise<unknown> {
  const outcome = await runFrom(definitionOf(procedure), 0, call);
  if (!outcome.ok) throw outcome.error;
  return outcome.data;
}

async function runFrom(definition: Definition, index: number, call: Call): Promise<Outcome> {
  const next: Next = (more) =>
    runFrom(
      definition,
      index + 1,
      more ? { ...call, ...more, ctx: more.ctx ? { ...call.ctx, ...more.ctx } : call.ctx } : call,
    );
  try {
    return await definition.middlewares[index]!({ ...call, meta: definition.meta, next });
  } catch (cause) {
    return { ok: false, error: getTRPCErrorFromUnknown(cause) };
  }
}

/** Makes one link of the checks and the body of each procedure of a router, for whichever door calls it. */
export function shortenChains(router: AnyTRPCRouter): void {
  for (const procedure of Object.values(router._def.procedures as Record<string, AnyTRPCProcedure>)) {
    const { middlewares, inputs, output } = definitionOf(procedure);
    const first = middlewares.findIndex((link) => link._type === 'input' || link._type === 'output');
    if (first === -1) continue;
    const links = middlewares.slice(first, -1);
    if (inputs.length > 1 || links.length !== inputs.length + (output ? 1 : 0))
      throw new Error('a procedure has one input and one output, and nothing between these and its body');
    middlewares.splice(first, links.length + 1, bodyOf(middlewares.at(-1)!, inputs[0], output));
  }
}

function bodyOf(body: Link, input: z.ZodType | undefined, output: z.ZodType | undefined): Link {
  const parseInput = input && parserOf(input);
  const parseOutput = output && parserOf(output);
  return async (call) => {
    // Both are this call's own, made for it a moment ago.
    if (parseInput) call.input = read(parseInput, await call.getRawInput());
    const outcome = await body(call);
    if (!parseOutput || !outcome.ok) return outcome;
    try {
      outcome.data = parseOutput(outcome.data);
      return outcome;
    } catch (cause) {
      throw new TRPCError({ message: 'Output validation failed', code: 'INTERNAL_SERVER_ERROR', cause });
    }
  };
}

function read(parse: (value: unknown) => unknown, given: unknown): unknown {
  try {
    return parse(given);
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', cause });
  }
}
