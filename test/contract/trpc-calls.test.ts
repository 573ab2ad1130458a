import { afterAll, describe, expect, test } from 'vitest';
import { comparable, openStockHandler, sendRaw, type Raw, type RawAnswer } from '../support/stock-trpc.ts';
import { startService } from '../support/service.ts';
import { headersOf } from '../support/actor.ts';

const service = await startService();
const stock = await openStockHandler(service);
afterAll(() => stock.close());
const admin = await service.registerCompany();
const foreigner = await service.registerCompany();
// Found by the letters `%FF`, and not by what is made of them where they are taken for a byte.
await service.addEmployee(admin, { last_name: '%FF' });

const proof = headersOf(admin.pair);
const json = { 'content-type': 'application/json' };
const input = (value: unknown): string => `input=${encodeURIComponent(JSON.stringify(value))}`;
const me = { employee_id: admin.employeeId };
const project = (name: string) => JSON.stringify({ name });

/** Whether the fast path answered: tRPC’s own handler sends its answers in chunks. */
const wasShort = ({ headers }: RawAnswer): boolean => headers['content-length'] !== undefined;

async function throughBoth(raw: Raw): Promise<{ ours: RawAnswer; theirs: RawAnswer }> {
  const request = { ...raw, headers: { ...proof, 'x-request-id': 'the-same', ...raw.headers } };
  return { ours: await sendRaw(service.url, request), theirs: await sendRaw(stock.url, request) };
}

describe('the fast path answers as tRPC’s own handler does', () => {
  test.each<[string, Raw]>([
    ['a query', { path: `/trpc/employees.get?${input(me)}` }],
    ['a query without input', { path: '/trpc/sessions.list' }],
    ['a query with an empty input', { path: '/trpc/sessions.list?input=' }],
    ['a query that says it is JSON', { path: '/trpc/sessions.list', headers: json }],
    ['a query with a path in other words', { path: `/trpc/employees%2Eget?${input(me)}` }],
    ['a query with white space for plus', { path: `/trpc/employees.get?input={"employee_id":+${admin.employeeId}}` }],
    [
      'a query with text beyond ASCII',
      { path: `/trpc/employees.search?${input({ company_id: admin.companyId, q: 'Ædå 😀' })}` },
    ],
    ['a query with invalid input', { path: `/trpc/employees.get?${input({ employee_id: 'x' })}` }],
    ['a query of another company’s', { path: `/trpc/employees.get?${input({ employee_id: foreigner.employeeId })}` }],
    ['a query without proof', { path: '/trpc/sessions.list', headers: { authorization: '', 'x-refresh-token': '' } }],
    ['a query with half a proof', { path: '/trpc/sessions.list', headers: { 'x-refresh-token': '' } }],
    ['a batch of one', { path: `/trpc/employees.get?batch=1&${input({ 0: me })}` }],
    ['a batch', { path: `/trpc/employees.get,sessions.list,employees.get?batch=1&${input({ 0: me, 2: me })}` }],
    ['a batch without input', { path: '/trpc/sessions.list,employees.get?batch=1' }],
    [
      'a batch with answers and refusals',
      { path: `/trpc/employees.get,employees.get?batch=1&${input({ 0: me, 1: {} })}` },
    ],
    ['a batch of refusals alike', { path: '/trpc/employees.get,employees.get?batch=1' }],
    [
      'a batch of refusals that differ',
      { path: `/trpc/employees.get,employees.get?batch=1&${input({ 1: { employee_id: 999_999 } })}` },
    ],
    ['a batch of fifty', { path: `/trpc/${Array(50).fill('sessions.list').join()}?batch=1` }],
    ['a mutation', { method: 'POST', path: '/trpc/projects.create', headers: json, body: project('Engine') }],
    ['a mutation that is refused', { method: 'POST', path: '/trpc/projects.create', headers: json, body: '{}' }],
    ['a mutation without a body', { method: 'POST', path: '/trpc/projects.create', headers: json }],
    [
      'a mutation in another spelling of JSON',
      {
        method: 'POST',
        path: '/trpc/projects.create',
        headers: { 'content-type': 'Application/JSON; charset=utf-8' },
        body: project('Engine'),
      },
    ],
    [
      'a batch of mutations',
      {
        method: 'POST',
        path: '/trpc/projects.create,projects.create?batch=1',
        headers: json,
        body: `{"0":${project('One')},"1":{}}`,
      },
    ],
    [
      'a mutation that is asked for twice',
      {
        method: 'POST',
        path: '/trpc/projects.create',
        headers: { ...json, 'idempotency-key': 'both-handlers' },
        body: '{"name":"x"}',
      },
    ],
  ])('%s', async (_what, raw) => {
    const { ours, theirs } = await throughBoth(raw);
    expect(comparable({ ...ours, headers: { ...ours.headers, 'idempotency-replayed': '' } })).toEqual(
      comparable({ ...theirs, headers: { ...theirs.headers, 'idempotency-replayed': '' } }),
    );
    expect([wasShort(ours), wasShort(theirs)]).toEqual([true, false]);
  });

  test('a request that is refused for coming too often', async () => {
    const limited = await startService({ requestsPerMinute: 2 });
    const other = await openStockHandler(limited);
    const caller = await limited.registerCompany();
    const colleague = await limited.registerCompany();
    const last = async (url: string, { access_token, refresh_token }: typeof caller.pair) => {
      const headers = {
        authorization: `Bearer ${access_token}`,
        'x-refresh-token': refresh_token,
        'x-request-id': 'same',
      };
      const path = '/trpc/sessions.list,sessions.list,sessions.list?batch=1';
      const { status, headers: told, body } = await sendRaw(url, { path, headers });
      return {
        status,
        retryAfter: Number(told['retry-after']) > 0,
        refused: (JSON.parse(body) as object[]).filter((one) => 'error' in one),
      };
    };
    const [ours, theirs] = [await last(limited.url, caller.pair), await last(other.url, colleague.pair)];
    await other.close();
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject({
      status: 207,
      retryAfter: true,
      refused: [{ error: { data: { code: 'RATE_LIMITED' } } }],
    });
  });

  test('a request with an access token that has run out', async () => {
    service.clock.advance({ minutes: 16 });
    const { ours, theirs } = await throughBoth({ path: `/trpc/employees.get?${input(me)}` });
    expect(comparable(ours)).toEqual(comparable(theirs));
    expect([ours.status, wasShort(ours), ours.headers['x-access-token']]).toEqual([200, true, expect.any(String)]);
  });

  test('a failure of the service itself, without its words', async () => {
    const { now } = service.clock;
    service.clock.now = () => {
      throw new Error('the clock has stopped');
    };
    const { ours, theirs } = await throughBoth({ path: '/trpc/sessions.list,sessions.list?batch=1' });
    service.clock.now = now;
    expect(comparable(ours)).toEqual(comparable(theirs));
    expect([ours.status, ours.body.includes('clock')]).toEqual([500, false]);
  });
});

describe('other requests than simple calls are answered by tRPC’s own handler', () => {
  const many = Array(51).fill('sessions.list').join();
  test.each<[string, Raw]>([
    ['an unknown procedure', { path: '/trpc/nope' }],
    ['an unknown procedure in a batch', { path: '/trpc/sessions.list,nope?batch=1' }],
    ['a name of Object’s own', { path: '/trpc/constructor,toString?batch=1' }],
    ['a batch that ends in a comma', { path: '/trpc/sessions.list,?batch=1' }],
    ['names with commas that are no batch', { path: '/trpc/sessions.list,sessions.list' }],
    ['another word for a batch', { path: '/trpc/sessions.list,sessions.list?batch=true' }],
    ['a batch and none', { path: '/trpc/sessions.list?batch=0&batch=1' }],
    ['two inputs', { path: `/trpc/employees.get?${input(me)}&${input({})}` }],
    ['a batch of reads and writes', { path: '/trpc/sessions.list,auth.logout?batch=1' }],
    ['a batch that is too long', { path: `/trpc/${many}?batch=1` }],
    ['a subscription in a batch', { path: '/trpc/notifications.onMine?batch=1' }],
    ['a subscription by POST', { method: 'POST', path: '/trpc/notifications.onMine', headers: json, body: '{}' }],
    ['a mutation by GET', { path: '/trpc/projects.create' }],
    ['a query by POST', { method: 'POST', path: '/trpc/sessions.list', headers: json, body: '{}' }],
    ['a query by HEAD', { method: 'HEAD', path: '/trpc/sessions.list' }],
    ['a query by PUT', { method: 'PUT', path: '/trpc/sessions.list', headers: json, body: '{}' }],
    ['a query by DELETE', { method: 'DELETE', path: '/trpc/sessions.list' }],
    ['input that is no JSON', { path: '/trpc/employees.get?input=%7B' }],
    ['input that is no text', { path: `/trpc/employees.search?input={"company_id":${admin.companyId},"q":"%FF"}` }],
    [
      'input with a percent sign',
      { path: `/trpc/employees.search?${input({ company_id: admin.companyId, q: '100%' })}` },
    ],
    ['a batch’s input that is a list', { path: `/trpc/employees.get?batch=1&${input([me])}` }],
    ['a batch’s input that is nothing', { path: '/trpc/employees.get?batch=1&input=null' }],
    ['a body that is no JSON', { method: 'POST', path: '/trpc/projects.create', headers: json, body: '{' }],
    ['a body without a type', { method: 'POST', path: '/trpc/projects.create', body: project('Engine') }],
    [
      'a body of another type',
      { method: 'POST', path: '/trpc/projects.create', headers: { 'content-type': 'text/plain' }, body: 'x' },
    ],
    [
      'bytes',
      {
        method: 'POST',
        path: '/trpc/projects.create',
        headers: { 'content-type': 'application/octet-stream' },
        body: 'x',
      },
    ],
    ['a query of bytes', { path: '/trpc/sessions.list', headers: { 'content-type': 'application/octet-stream' } }],
    ['a path that is encoded twice', { path: '/trpc/sessions%252Elist' }],
    ['a path that cannot be decoded', { path: '/trpc/%25' }],
    ['a streamed answer', { path: '/trpc/sessions.list?batch=1', headers: { 'trpc-accept': 'application/jsonl' } }],
    [
      'a streamed answer that is no batch',
      { path: '/trpc/sessions.list', headers: { 'trpc-accept': 'application/jsonl' } },
    ],
    [
      'a streamed answer asked for in HTTP’s words',
      { path: '/trpc/sessions.list?batch=1', headers: { accept: 'text/html, application/jsonl' } },
    ],
    ['something else to accept', { path: '/trpc/sessions.list', headers: { 'trpc-accept': 'application/json' } }],
  ])('%s', async (_what, raw) => {
    const { ours, theirs } = await throughBoth(raw);
    expect(comparable(ours)).toEqual(comparable(theirs));
  });
});
