import type { AnyTRPCProcedure } from '@trpc/server';
import { neverAborted, runChain } from '../../kernel/chain.ts';
import type { Context, Membership, RequestInfo, Services } from '../../kernel/context.ts';
import type { Operation } from '../../kernel/operations.ts';
import { parserOf } from '../../kernel/parser.ts';
import { JsonStream, type ListStream } from '../../kernel/wire/json-stream.ts';
import type { Scope } from '../../platform/scopes.ts';

/** A client of /mcp in one request: the person whose key it has, and the operations that it may call as them. */
export type Agent = {
  services: Services;
  request: RequestInfo;
  membership: Membership;
  scopes: readonly Scope[];
  procedures: ReadonlyMap<string, AnyTRPCProcedure>;
};

/** An answer as JSON has it. */
export type Answer = {
  answer: Record<string, unknown>;
  /** The number of records that its list lacks at the beginning. */
  skipped: number;
  /** Whether it lacks records at the end. */
  hasMore: boolean;
};

type How = { idempotencyKey?: string; skip?: number };

/** Calls an operation with the rights of the agent. The list of a long answer begins at `skip`, and is not read further than results show. */
export async function callOperation(
  { services, request, procedures }: Agent,
  { name, type }: Pick<Operation, 'name' | 'type'>,
  input: Record<string, unknown>,
  { idempotencyKey, skip = 0 }: How = {},
): Promise<Answer> {
  const ctx: Context = { services, request: { ...request, idempotencyKey, acceptsStreams: true } };
  const call = { ctx, path: name, type, getRawInput: () => input, signal: neverAborted, batchIndex: 0 };
  const { data } = await runChain(procedures.get(name)!, call);
  if (data instanceof JsonStream) return readPart(data.list!, skip);
  return { answer: toJson(data), skipped: 0, hasMore: false };
}

const toJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as Answer['answer'];

/** In characters; more than a result shows, which leaves fields out and cuts texts. */
const partLengthMax = 256 * 1024;

async function readPart({ field, item, batches, others }: ListStream, skip: number): Promise<Answer> {
  const parse = parserOf(item);
  const records: unknown[] = [];
  let [at, length, hasMore] = [0, 0, false];
  for await (const batch of batches) {
    for (const record of batch) {
      at += 1;
      if (at <= skip) continue;
      hasMore = length > partLengthMax;
      if (hasMore) break;
      const json = JSON.stringify(parse(record));
      records.push(JSON.parse(json));
      length += json.length;
    }
    // A total beside the list needs the rest of it.
    if (hasMore && !others) break;
  }
  return { answer: { [field]: records, ...toJson(others?.() ?? {}) }, skipped: skip, hasMore };
}
