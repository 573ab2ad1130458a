import { describe, expect, test } from 'vitest';
import { definitionOf, proceduresOf } from '../../server/kernel/definitions.ts';
import { scopeKindOf, scopesOf, type OperationMeta } from '../../server/kernel/operation.ts';
import { operationsOf, type Operation } from '../../server/kernel/operations.ts';
import { scopes, type Scope } from '../../server/platform/scopes.ts';
import { appRouter } from '../../server/router.ts';
import { createCaller, type Answer } from '../support/actor.ts';
import { overEvents, overWebSocket } from '../support/listener.ts';
import { startService } from '../support/service.ts';
import { callOperation, exampleWith } from '../support/smoke-calls.ts';
import { startWork } from '../support/work.ts';

/* What each scope of an API key opens, of all operations and subscriptions. */

const service = await startService();
const admin = await service.registerCompany();
const { projectId, taskId } = await startWork(admin);
const absentId = 987_654_321;

const operations = operationsOf(appRouter).filter(({ meta }) => meta.access !== 'open');
const subscriptions = [...proceduresOf(appRouter)]
  .map(([name, procedure]) => ({ name, ...definitionOf(procedure) }))
  .filter(({ type }) => type === 'subscription');

const made = new Map<string, Promise<string>>();

/** An API key of the admin with exactly these scopes. */
function keyWith(granted: readonly Scope[]): Promise<string> {
  const name = granted.join(' ');
  const key =
    made.get(name) ?? admin.post('/api/api-keys/', { name: 'Script', scopes: granted }).then(({ body }) => body.key);
  made.set(name, key);
  return key;
}

/** Calls with things that do not exist: what passes the scopes is refused for its input, or does next to nothing. */
async function callWith(granted: readonly Scope[], operation: Operation): Promise<Answer> {
  const headers = { authorization: `Bearer ${await keyWith(granted)}` };
  const caller = createCaller(service.url);
  const example = exampleWith(operation, () => absentId);
  return callOperation(
    { send: (method, path, body) => caller.send(method, path, body, { headers }) },
    operation,
    example,
  );
}

const isAllowed = ({ body }: Answer): boolean => !['SCOPE_REQUIRED', 'SESSION_REQUIRED'].includes(body.code);

type Declared = { name: string; type: 'query' | 'mutation' | 'subscription'; meta?: OperationMeta };

/** Whether the declaration allows a key. */
const mayCall = ({ meta = {}, type }: Declared, granted: readonly Scope[]): boolean =>
  scopesOf(meta, scopeKindOf(type)).some((set) => set.every((scope) => granted.includes(scope)));

describe('the declaration', () => {
  test('of every operation of a member or an admin names an area, or why it has none', () => {
    const grouped = Map.groupBy(
      [...proceduresOf(appRouter)].map(([name, procedure]) => ({ name, ...definitionOf(procedure) })),
      ({ meta }) => (Array.isArray(meta?.keys) ? 'several areas' : (meta?.keys ?? meta?.access)),
    );
    const names = (keys: string) =>
      grouped
        .get(keys as 'member')
        ?.map(({ name }) => name)
        .toSorted();
    expect(names('member')).toBeUndefined();
    expect(names('admin')).toBeUndefined();
    expect(names('any key')).toEqual(['apiKeys.getCurrent']);
    expect(names('several areas')).toEqual(['csvImports.run', 'search.company', 'tasks.onProject']);
    // What shows or carries out of the company what is in all areas.
    expect(new Set(names('everything')!.map((name) => name.split('.')[0]))).toEqual(
      new Set(['apiKeys', 'audit', 'exports', 'webhooks']),
    );
    expect(names('no key')).toEqual([
      'apiKeys.create',
      'apiKeys.revoke',
      'company.close',
      'company.reopen',
      'employees.endApiKeys',
      'employees.endSessions',
      'employees.erase',
      'employees.getAccess',
      'oauth.authorizeClient',
      'passwords.change',
    ]);
  });

  test('lets read and write do what they did before there were others', () => {
    for (const one of [...operations, ...subscriptions]) {
      const { meta = {}, type } = one;
      if (meta.access !== 'member' && meta.access !== 'admin') continue;
      const isOpen = meta.keys !== 'no key';
      const others: Scope[] = [type === 'mutation' ? 'read' : 'write', 'login'];
      expect([one.name, mayCall(one, [scopeKindOf(type)])]).toEqual([one.name, isOpen]);
      expect([one.name, mayCall(one, others)]).toEqual([one.name, meta.keys === 'any key']);
    }
  });

  test('lets a key of areas do only what its kind says, and nothing of admins without their scope', () => {
    const narrow = (kind: string) => scopes.filter((scope) => scope.endsWith(`:${kind}`));
    for (const one of [...operations, ...subscriptions]) {
      const { meta = {}, type } = one;
      if (meta.keys === 'any key') continue;
      const [own, other] = type === 'mutation' ? (['write', 'read'] as const) : (['read', 'write'] as const);
      const isOfAreas = meta.keys !== undefined && meta.keys !== 'everything' && meta.keys !== 'no key';
      const answers = [[...narrow(own), 'admin'], narrow(own), [...narrow(other), 'admin', 'login']];
      expect([one.name, ...answers.map((granted) => mayCall(one, granted as Scope[]))]).toEqual([
        one.name,
        isOfAreas,
        isOfAreas && meta.access === 'member',
        false,
      ]);
    }
  });
});

describe('a key of one scope', () => {
  test.each(scopes)('%s calls what is declared for it, and nothing else', async (scope) => {
    const differing: string[] = [];
    await Promise.all(
      Array.from({ length: 6 }, async (_, lane) => {
        for (const operation of operations.filter((_, index) => index % 6 === lane))
          if (isAllowed(await callWith([scope], operation)) !== mayCall(operation, [scope]))
            differing.push(operation.name);
      }),
    );
    expect(differing).toEqual([]);
  });

  test.each(scopes)('%s subscribes to what is declared for it, and to nothing else', async (scope) => {
    const way = overWebSocket(service.url, { apiKey: await keyWith([scope]) });
    for (const subscription of subscriptions) {
      const { name } = subscription;
      const listener = await way.listen(name as Parameters<typeof way.listen>[0], { projectId, taskId });
      expect([name, listener.errorCode()]).toEqual([
        name,
        mayCall(subscription, [scope]) ? undefined : 'SCOPE_REQUIRED',
      ]);
    }
    await way.close();
  });
});

describe('a key of all the scopes that an operation needs', () => {
  const narrow = operations.filter(({ meta, type }) => scopesOf(meta, scopeKindOf(type)).length === 2);

  test.each(narrow.map((one) => [one.name, one] as const))(
    'calls %s, and without one of them not',
    async (_, operation) => {
      const kind = scopeKindOf(operation.type);
      const [needed] = scopesOf(operation.meta, kind);
      expect(isAllowed(await callWith(needed!, operation))).toBe(true);
      for (const missing of needed!) {
        const granted = scopes.filter((scope) => scope !== missing && scope !== kind);
        const { status, body } = await callWith(granted, operation);
        expect({ status, code: body.code, missing: body.missingScopes }).toEqual({
          status: 403,
          code: 'SCOPE_REQUIRED',
          missing: [missing],
        });
        expect(body.detail).toContain(missing);
      }
    },
  );

  test.each(subscriptions.map((one) => [one.name, one] as const))(
    'hears %s, also by server-sent events, and without one of them not',
    async (name, { meta }) => {
      const listenWith = async (granted: readonly Scope[]) => {
        const way = overEvents(service.url, { apiKey: await keyWith(granted) });
        const listener = await way.listen(name as Parameters<typeof way.listen>[0], { projectId, taskId });
        await way.close();
        return listener.errorCode();
      };
      const [needed] = scopesOf(meta!, 'read');
      expect(await listenWith(needed!)).toBeUndefined();
      for (const missing of needed!)
        expect(await listenWith(scopes.filter((scope) => scope !== missing && scope !== 'read'))).toBe(
          'SCOPE_REQUIRED',
        );
    },
  );
});
