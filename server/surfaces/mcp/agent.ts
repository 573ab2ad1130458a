import type { AnyTRPCProcedure } from '@trpc/server';
import { runChain } from '../../kernel/chain.ts';
import type { Context, Membership, RequestInfo, Services } from '../../kernel/context.ts';
import type { Operation } from '../../kernel/operations.ts';
import type { Scope } from '../../platform/scopes.ts';

/** A client of /mcp in one request: the person whose key it has, and the operations that it may call as them. */
export type Agent = {
  services: Services;
  request: RequestInfo;
  membership: Membership;
  scopes: readonly Scope[];
  procedures: ReadonlyMap<string, AnyTRPCProcedure>;
};

/** Work continues when the client disconnects: a lost connection does not undo half of it. */
const { signal } = new AbortController();

/** Calls an operation with the rights of the agent, and returns its answer as JSON has it. */
export async function callOperation(
  { services, request, procedures }: Agent,
  { name, type }: Pick<Operation, 'name' | 'type'>,
  input: Record<string, unknown>,
  idempotencyKey?: string,
): Promise<Record<string, unknown>> {
  const ctx: Context = { services, request: { ...request, idempotencyKey } };
  const call = { ctx, path: name, type, getRawInput: () => input, signal, batchIndex: 0 };
  const { data } = await runChain(procedures.get(name)!, call);
  return JSON.parse(JSON.stringify(data)) as Record<string, unknown>;
}
