import { initTRPC, type AnyTRPCProcedure, type AnyTRPCRouter } from '@trpc/server';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { runChain, shortenChains } from '../../server/kernel/chain.ts';
import { definitionOf, proceduresOf } from '../../server/kernel/definitions.ts';
import { appRouter } from '../../server/router.ts';

/* What is read of tRPC beneath its public surface: docs/decisions/0006 says why. These fail where tRPC changed. */

const t = initTRPC.create();
const double = t.procedure
  .use(({ next }) => next({ ctx: { factor: 2 } }))
  .input(z.object({ value: z.coerce.number() }))
  .output(z.object({ doubled: z.number() }))
  .query(({ input, ctx }) => ({ doubled: input.value * ctx.factor }));
const call = (value: unknown) => ({
  ctx: { request: {} },
  path: 'double',
  type: 'query' as const,
  getRawInput: async () => ({ value }),
  signal: undefined,
  batchIndex: 0,
});

describe('a procedure of the installed tRPC', () => {
  test('has its type, input and output where they are read', () => {
    const { type, inputs, output } = definitionOf(double);
    expect([type, inputs.length, inputs[0]?.parse({ value: '3' }), output?.safeParse({}).success]).toEqual([
      'query',
      1,
      { value: 3 },
      false,
    ]);
    expect(proceduresOf(appRouter).size).toBeGreaterThan(50);
  });

  test('answers the same by its own runner and by a chain with its checks and its body in one link', async () => {
    const own = await (double as unknown as (call: object) => Promise<unknown>)(call('21'));
    shortenChains(t.router({ double }));
    expect(await runChain(double, call('21'))).toEqual({ ok: true, data: own });
    expect(own).toEqual({ doubled: 42 });
    await expect(runChain(double, call('many'))).rejects.toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
  });
});

describe('a tRPC that keeps procedures otherwise', () => {
  const routerOf = (definition: object) =>
    ({ _def: { procedures: { double: { _def: definition } } } }) as unknown as AnyTRPCRouter;

  test('is named by the first who reads a definition', () => {
    const moved = { definition: { type: 'query' } } as unknown as AnyTRPCProcedure;
    expect(() => definitionOf(moved)).toThrow('another shape: see docs/decisions/0006');
    const router = routerOf({ type: 'query', schemas: [] });
    expect(() => shortenChains(router)).toThrow('another shape: see docs/decisions/0006');
  });

  test('is named where its middlewares are elsewhere', () => {
    const router = routerOf({ type: 'query', inputs: [], resolver: () => {} });
    expect(() => shortenChains(router)).toThrow('the chain of double in another shape: see docs/decisions/0006');
  });
});
