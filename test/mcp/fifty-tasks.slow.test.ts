import { encode } from 'gpt-tokenizer/esm/encoding/o200k_base';
import { expect, test } from 'vitest';
import { toolNames } from '../../server/kernel/tool.ts';
import { startService } from '../support/service.ts';
import { agentOf } from './agent.ts';
import { fiftyTasks, type Now, type Task } from './fifty-tasks.ts';
import { makeCompany } from './work-of-a-company.ts';

/* What agents pay: calls, and tokens of their arguments and results in the vocabulary o200k. */

const service = await startService();
const company = await makeCompany(service);
const { priya, tom } = company.people;

test('fifty tasks of people are done in few calls and tokens', async () => {
  const agents = {
    priya: await agentOf(service, priya),
    tom: await agentOf(service, tom),
    reader: await agentOf(service, priya, ['tasks:read', 'time:read']),
  };
  const get: Now['get'] = async (path) => {
    const { status, body } = await priya.get(path);
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return body;
  };

  async function run({ as = 'priya', says, calls, holds }: Task): Promise<Cost[]> {
    const so: unknown[] = [];
    const costs: Cost[] = [];
    for (const [tool, args = {}, end] of calls) {
      const first = typeof args === 'function' ? args(...so) : args;
      for (let more: object | undefined = {}; more;) {
        const given: Record<string, unknown> = Object.assign({}, first, more);
        // An agent cannot pass on what it was not told.
        expect(Object.values(given)).not.toContain(undefined);
        const { text, result } = await agents[as].call(tool, given);
        if (result.error?.code !== (typeof end === 'string' ? end : undefined))
          throw new Error(`${says} ${tool} answered ${text}`);
        so.push(result);
        costs.push({ tool, sent: tokensOf({ name: tool, arguments: given }), answered: encode(text).length });
        more = typeof end === 'function' ? end(result) : undefined;
      }
    }
    await service.drain();
    await holds({ company, so, get });
    return costs;
  }

  const costs: Cost[][] = [];
  for (const task of fiftyTasks) costs.push(await run(task));
  const calls = costs.flat();
  const totals = {
    tasks: costs.length,
    calls: calls.length,
    tokensSent: sum(calls.map(({ sent }) => sent)),
    tokensAnswered: sum(calls.map(({ answered }) => answered)),
    tokensOfTheMiddleTask: costs.map(tokensIn).toSorted((a, b) => a - b)[costs.length / 2]!,
    mostCallsOfATask: Math.max(...costs.map(({ length }) => length)),
    longestResult: Math.max(...calls.map(({ answered }) => answered)),
    listing: tokensOf((await agents.priya.client.listTools()).tools),
  };
  // oxlint-disable-next-line eslint/no-console
  for (const table of [costsByTool(calls), totals]) console.table(table);

  expect(totals.tasks).toBe(50);
  expect(new Set(calls.map(({ tool }) => tool))).toEqual(new Set(toolNames));
  // Measured, and a little room: dates, numbers and request ids cost now more and now less.
  expect(totals.calls).toBeLessThanOrEqual(107);
  expect(totals.tokensSent).toBeLessThan(2_600);
  expect(totals.tokensAnswered).toBeLessThan(31_000);
  expect(totals.mostCallsOfATask).toBeLessThanOrEqual(4);
  expect(totals.longestResult).toBeLessThan(8_000);
  expect(totals.listing).toBeLessThan(8_000);
});

type Cost = { tool: string; sent: number; answered: number };

const tokensOf = (value: unknown): number => encode(JSON.stringify(value)).length;
const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
const tokensIn = (costs: Cost[]): number => sum(costs.map(({ sent, answered }) => sent + answered));

function costsByTool(calls: Cost[]) {
  return Object.fromEntries(
    toolNames.map((name) => {
      const its = calls.filter(({ tool }) => tool === name);
      const longest = Math.max(...its.map(({ answered }) => answered));
      return [name, { calls: its.length, tokens: tokensIn(its), longest }];
    }),
  );
}
