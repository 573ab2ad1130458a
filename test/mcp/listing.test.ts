import { encode } from 'gpt-tokenizer/esm/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { operationsOf } from '../../server/kernel/operations.ts';
import { toolNames } from '../../server/kernel/tool.ts';
import { scopes, type Scope } from '../../server/platform/scopes.ts';
import { appRouter } from '../../server/router.ts';
import { startService } from '../support/service.ts';
import { agentOf } from './agent.ts';

/* What agents are told of the tools. */

const service = await startService();
const admin = await service.registerCompany();
const uses = operationsOf(appRouter).flatMap((operation) => (operation.meta.tool ? [operation] : []));

async function listFor(granted: readonly Scope[]) {
  const { client } = await agentOf(service, admin, [...granted]);
  return (await client.listTools()).tools;
}

const whole = await listWhole();
async function listWhole() {
  const { body } = await admin.post('/api/api-keys/', { name: 'Agent', scopes: ['read', 'write'] });
  const response = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${body.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const [, json] = /^data: (.*)$/m.exec(await response.text())!;
  return (JSON.parse(json!) as { result: { tools: Awaited<ReturnType<typeof listFor>> } }).result.tools;
}
const named = (name: string) => whole.find((tool) => tool.name === name)!;

test('has every tool, in under 4,000 tokens', () => {
  expect(whole.map(({ name }) => name)).toEqual(toolNames);
  expect(encode(JSON.stringify(whole)).length).toBeLessThan(4_000);
});

test('says which tools only read, and which delete', () => {
  for (const { name, annotations } of whole) {
    const its = uses.filter(({ meta }) => meta.tool!.name === name);
    expect([name, annotations!.readOnlyHint]).toEqual([name, its.every(({ type }) => type === 'query')]);
    const isDeleting = its.some(({ method }) => method === 'DELETE');
    expect([name, isDeleting]).toEqual([name, name === 'delete']);
    expect([name, annotations!.destructiveHint, annotations!.openWorldHint]).toEqual([
      name,
      !annotations!.readOnlyHint,
      false,
    ]);
    // Nothing that only reads is together with something that deletes.
    expect(isDeleting && its.some(({ type }) => type === 'query')).toBe(false);
  }
});

describe('a tool', () => {
  test('has one name for each kind of identifier, and takes names where it does not delete', () => {
    const byName = { type: ['integer', 'string'] };
    expect(named('save_task').inputSchema.properties).toMatchObject({
      task_id: byName,
      project_id: byName,
      owner_id: byName,
      collaborator_ids: { type: 'array', items: byName },
      due_date: { type: ['string', 'null'], format: 'date' },
    });
    expect(named('log_time').inputSchema.properties).toMatchObject({
      log_id: { type: 'integer' },
      task_id: byName,
      employee_id: byName,
      start_time: { type: 'string', format: 'date-time' },
    });
    for (const schema of Object.values(named('delete').inputSchema.properties!))
      expect((schema as { type: unknown }).type).not.toEqual(byName.type);
    const all = whole.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties!));
    expect(all.filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([]);
    // Filled in by the service, or of no use to agents.
    expect(all).not.toContain('company_id');
    expect(all).not.toContain('page');
  });

  test('requires what each of its operations does', () => {
    expect(named('who_am_i').inputSchema.required).toBeUndefined();
    expect(named('search').inputSchema.required).toEqual(['q']);
    expect(named('timer').inputSchema.required).toEqual(['action']);
    expect(named('timesheet').inputSchema.required).toEqual(['from', 'to']);
    expect(named('save_task').inputSchema.required).toBeUndefined();
    expect(named('comment').inputSchema.required).toEqual(['task_id']);
  });

  test('takes an idempotency_key where it writes, and a cursor where it lists', () => {
    for (const { name, annotations, inputSchema } of whole) {
      const its = Object.keys(inputSchema.properties!);
      expect([name, its.includes('idempotency_key')]).toEqual([name, !annotations!.readOnlyHint]);
      expect([name, its.includes('cursor')]).toEqual([name, annotations!.readOnlyHint === true && name !== 'who_am_i']);
    }
  });
});

test.each(scopes)('a key of the scope %s is listed what it may call', async (scope) => {
  // A key for signing in has no tool, so it gets nothing but its own name.
  const mayCall = ({ meta, type }: (typeof uses)[number]): boolean => {
    if (meta.keys === 'any key') return true;
    const kind = type === 'query' ? 'read' : 'write';
    if (scope === kind) return true;
    const areas = [meta.keys].flat();
    return meta.access === 'member' && areas.length === 1 && scope === `${String(areas[0])}:${kind}`;
  };
  const isBase = ({ meta }: (typeof uses)[number]) => meta.tool!.include === undefined;
  const expected = toolNames.filter((name) =>
    uses.some((one) => one.meta.tool!.name === name && isBase(one) && mayCall(one)),
  );
  const listed = await listFor([scope]);
  expect(listed.map(({ name }) => name)).toEqual(expected);
  for (const { name, inputSchema } of listed) {
    const words = (inputSchema.properties!['include'] as { items: { enum: string[] } } | undefined)?.items.enum ?? [];
    const included = uses.filter((one) => one.meta.tool!.name === name && !isBase(one) && mayCall(one));
    expect([name, words]).toEqual([name, included.map(({ meta }) => meta.tool!.include)]);
  }
});
