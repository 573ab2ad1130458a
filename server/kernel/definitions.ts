import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import type { OperationMeta } from './operation.ts';

/*
 * The one place that reads tRPC's internals of a router: `router._def.procedures` and `procedure._def`. tRPC documents
 * neither, but its own adapters, its clients and trpc-to-openapi read both. docs/decisions/0006 gives the reasons; a
 * test fails clearly if tRPC changes their shape.
 */

export type Kind = 'query' | 'mutation' | 'subscription';

export type ProcedureDefinition = {
  type: Kind;
  meta?: OperationMeta;
  inputs: z.ZodType[];
  output?: z.ZodType;
};

/** The procedures of a router, each by its path such as `taskLogs.create`. */
export const proceduresOf = (router: AnyTRPCRouter): ReadonlyMap<string, AnyTRPCProcedure> =>
  new Map(Object.entries(router._def.procedures as Record<string, AnyTRPCProcedure>));

/** The declaration of a procedure. Throws if tRPC stores it in another shape. */
export function definitionOf(procedure: AnyTRPCProcedure): ProcedureDefinition {
  const { _def: definition } = procedure as unknown as { _def?: Partial<ProcedureDefinition> };
  if (!definition || !kinds.has(definition.type!) || !Array.isArray(definition.inputs))
    throw new Error('this tRPC keeps procedures in another shape: see docs/decisions/0006');
  return definition as ProcedureDefinition;
}

const kinds: ReadonlySet<Kind> = new Set<Kind>(['query', 'mutation', 'subscription']);
