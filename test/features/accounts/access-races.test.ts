import { beforeAll, describe, expect, test } from 'vitest';
import { createCaller, type Actor, type Answer, type TokenPair } from '../../support/actor.ts';
import { callerWithKey, makeKey } from '../../support/api-key.ts';
import { password, startService } from '../../support/service.ts';

/*
 * Access that is made while what it depends on is taken away: either it is refused, or it has ended with the rest. Each round starts
 * the change a little later among the others, so that it comes before, between and after them.
 */

const rounds = 8;
const atOnce = 6;
const service = await startService();
const { anonymous, url } = service;
const admin = await service.registerCompany();
await service.registerCompany();

/** Runs a change among calls that are sent at once, after the given number of them. */
async function amid(after: number, change: () => Promise<Answer>, calls: (() => Promise<Answer>)[]): Promise<Answer[]> {
  const first = calls.slice(0, after).map((call) => call());
  const changed = change();
  const answers = await Promise.all([...first, ...calls.slice(after).map((call) => call())]);
  expect((await changed).status).toBe(200);
  for (const { status } of answers) expect(status).toBeLessThan(500);
  return answers.filter(({ status }) => status === 200);
}

/** Those of the answers whose session or key is still good. */
async function listLive(answers: Answer[]): Promise<Answer[]> {
  const live: Answer[] = [];
  for (const answer of answers) {
    const caller =
      answer.body.key === undefined ? createCaller(url, answer.body as TokenPair) : callerWithKey(url, answer.body.key);
    const path = answer.body.key === undefined ? '/api/invitations/' : '/api/api-keys/current/';
    if ((await caller.get(path)).status !== 401) live.push(answer);
  }
  return live;
}

const times = <Item>(item: Item): Item[] => Array.from({ length: atOnce }, () => item);
const createKey = (person: Actor) => () => person.post('/api/api-keys/', { name: 'Stolen', scopes: ['read'] });
const signIn = (person: Actor) => () => anonymous.post('/login/', { email: person.email, password });
const changeCompany = (person: Actor) => () =>
  person.post('/token-login/', { email: person.email, company_id: person.companyId });

async function resetToken(email: string): Promise<string> {
  await anonymous.post('/reset/link/', { email });
  await service.drain();
  return /reset-password\?token=([\w-]+)/.exec(service.mailbox.to(email).at(-1)!.text)![1]!;
}

test('a password reset leaves no session of the old password and no key, also none that is made at that moment', async () => {
  const live: Answer[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const person = await service.addEmployee(admin);
    const token = await resetToken(person.email);
    const fields = { token, new_password: 'a new long password', confirm_password: 'a new long password' };
    const calls = [...times(createKey(person)), ...times(signIn(person)), changeCompany(person)];
    live.push(...(await listLive(await amid(round, () => anonymous.post('/reset/verify/', fields), calls))));
  }
  expect(live).toEqual([]);
});

test('a changed address leaves no session and no key of the one before', async () => {
  const live: Answer[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const person = await service.addEmployee(admin);
    const change = () => admin.patch(`/api/employees/${person.employeeId}/`, { email: `moved${round}@example.com` });
    const calls = [...times(createKey(person)), ...times(signIn(person)), changeCompany(person)];
    const answers = await amid(round, change, calls);
    // Who signs in behind it is an employee of no company.
    live.push(...(await listLive(answers.filter(({ body }) => body.employee !== null))));
  }
  expect(live).toEqual([]);
});

const isLive = async (answer: Answer): Promise<boolean> =>
  (await createCaller(url, answer.body as TokenPair).get(`/api/projects/company/${admin.companyId}/`)).status !== 401;

test('a revoked key leaves no session that it has opened', async () => {
  const live: Answer[] = [];
  const person = await service.addEmployee(admin);
  for (let round = 0; round < rounds; round += 1) {
    const { body } = await admin.post('/api/api-keys/', { name: 'Portal', scopes: ['login'] });
    const portal = callerWithKey(url, body.key);
    const open = () => portal.post('/token-login/', { email: person.email, company_id: admin.companyId });
    const answers = await amid(round, () => admin.delete(`/api/api-keys/${body._id}/`), times(open));
    for (const answer of answers) if (await isLive(answer)) live.push(answer);
  }
  expect(live).toEqual([]);
});

describe('a key that signs others in', () => {
  type Pair = { maker: Actor; target: Actor };
  const patch = (person: Actor, fields: object) => admin.patch(`/api/employees/${person.employeeId}/`, fields);

  const changes: [string, (pair: Pair) => Promise<Answer>][] = [
    ['its maker is no admin any more', ({ maker }) => patch(maker, { isAdmin: false })],
    ['its maker was deactivated', ({ maker }) => patch(maker, { is_active: false })],
    ['they have another address', ({ target }) => patch(target, { email: 'elsewhere@example.com' })],
    ['they were deactivated', ({ target }) => patch(target, { is_active: false })],
  ];

  // The two are locked in the order in which they were added.
  describe.each(['before', 'after'])('and was made by somebody who was added %s them', (order) => {
    let pair: Pair;
    beforeAll(async () => {
      const first = await service.addEmployee(admin);
      const second = await service.addEmployee(admin);
      pair = order === 'before' ? { maker: first, target: second } : { maker: second, target: first };
    });

    test.each(changes)('leaves no session of theirs when %s', async (_what, change) => {
      const live: Answer[] = [];
      for (let round = 0; round < rounds; round += 1) {
        await patch(pair.maker, { isAdmin: true });
        await patch(pair.target, { email: pair.target.email });
        const maker = await service.signIn(pair.maker.email, admin.companyId);
        const portal = await makeKey(service, maker, ['login']);
        const open = () => portal.post('/token-login/', { email: pair.target.email, company_id: admin.companyId });
        const answers = await amid(round, () => change(pair), times(open));
        // A session that was only hidden comes back with its employee.
        for (const person of [pair.maker, pair.target]) await patch(person, { is_active: true });
        for (const answer of answers) if (await isLive(answer)) live.push(answer);
      }
      expect(live).toEqual([]);
    });
  });
});
