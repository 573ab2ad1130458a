import { describe, expect, test } from 'vitest';
import { errorOf, type Actor, type Caller } from '../../support/actor.ts';
import { makeKey } from '../../support/api-key.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { anonymous } = service;
const ada = await service.registerCompany({ name: 'Engines' });
const neighbour = await service.registerCompany({ name: 'Looms' });
const { body: project } = await ada.post('/api/projects/', { name: 'Difference Engine' });
const { body: task } = await ada.post('/api/tasks/', { projectId: project._id, title: 'Cut the sprocket' });

const pathOf = (query: Record<string, string>, { companyId }: Actor = ada) =>
  `/api/search/company/${companyId}/?${new URLSearchParams(query).toString()}`;
const sprocket = pathOf({ q: 'sprocket' });
const scopes = ['tasks:read', 'projects:read', 'comments:read', 'people:read'];
const ended = { status: 401, code: 'SESSION_ENDED' };
const badKey = { status: 401, code: 'INVALID_TOKEN' };

async function expectFound(by: Caller): Promise<void> {
  const { status, body } = await by.get(sprocket);
  expect({ status, body }).toMatchObject({ status: 200, body: { results: [{ kind: 'task', _id: task._id }] } });
}

async function boundSession(of: Actor): Promise<Caller & { keyId: number }> {
  const key = await makeKey(service, ada, ['login']);
  const claim = { email: of.email, company_id: of.companyId };
  const { status, body } = await key.post('/token-login/', claim);
  expect(status).toBe(200);
  return { ...service.as(body), keyId: key._id };
}

describe('a search is refused', () => {
  test.each([
    ['has been deleted', (who: Actor) => ada.delete(`/api/employees/${who.employeeId}/`)],
    ['has been deactivated', (who: Actor) => ada.patch(`/api/employees/${who.employeeId}/`, { is_active: false })],
  ])('to who %s, by session, key and bound session', async (_, leave) => {
    const leaver = await service.addEmployee(ada);
    const callers = [leaver, await makeKey(service, leaver, scopes), await boundSession(leaver)];
    for (const caller of callers) await expectFound(caller);
    await leave(leaver);
    const [bySession, byKey, byBound] = await Promise.all(callers.map((caller) => caller.get(sprocket)));
    expect(errorOf(bySession!)).toEqual(ended);
    expect(errorOf(byKey!)).toEqual(badKey);
    expect(errorOf(byBound!)).toEqual(ended);
    await expectFound(ada);
  });

  test('to who has left for another company, where nothing of the first is found', async () => {
    const leaver = await service.addEmployee(ada);
    const elsewhere = await service.addEmployee(neighbour, { email: leaver.email });
    await ada.delete(`/api/employees/${leaver.employeeId}/`);
    expect(errorOf(await leaver.get(sprocket))).toEqual(ended);
    const session = await service.signIn(leaver.email);
    expect(session.companyId).toBe(neighbour.companyId);
    for (const caller of [session, elsewhere]) {
      expect(errorOf(await caller.get(sprocket))).toEqual({ status: 404, code: 'NOT_FOUND' });
      expect((await caller.get(pathOf({ q: 'sprocket' }, neighbour))).body).toEqual({ results: [], nextCursor: null });
    }
  });

  test('to a key that is revoked, and to the session that it opened', async () => {
    const key = await makeKey(service, ada, scopes);
    await expectFound(key);
    await ada.delete(`/api/api-keys/${key._id}/`);
    expect(errorOf(await key.get(sprocket))).toEqual(badKey);

    const session = await boundSession(await service.addEmployee(ada));
    await expectFound(session);
    await ada.delete(`/api/api-keys/${session.keyId}/`);
    expect(errorOf(await session.get(sprocket))).toEqual(ended);
  });

  test('to a key without one of the areas that it looks into, and to a key of another company', async () => {
    for (const missing of scopes) {
      const key = await makeKey(
        service,
        ada,
        scopes.filter((scope) => scope !== missing),
      );
      expect([missing, errorOf(await key.get(sprocket))]).toEqual([missing, { status: 403, code: 'SCOPE_REQUIRED' }]);
    }
    const foreign = await makeKey(service, neighbour, scopes);
    expect(errorOf(await foreign.get(sprocket))).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  test('to both holders of a session that was stolen, and to who has no session', async () => {
    const victim = await service.addEmployee(ada);
    const { body: current } = await anonymous.post('/api/token/refresh/', { refresh_token: victim.pair.refresh_token });
    await expectFound(service.as(current));
    service.clock.advance({ seconds: 11 });
    await anonymous.post('/api/token/refresh/', { refresh_token: victim.pair.refresh_token });
    for (const pair of [victim.pair, current]) expect(errorOf(await service.as(pair).get(sprocket))).toEqual(ended);
    expect(errorOf(await anonymous.get(sprocket))).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
  });
});

describe('a search', () => {
  test('is the same for 64 who ask at once, with words as they are and with slips', async () => {
    const colleague = await service.addEmployee(ada);
    for (const q of ['sprocket', 'sporcket', 'absent']) {
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, nth) => (nth % 2 ? colleague : ada).get(pathOf({ q }))),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(64).fill(200));
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(answers[0]!.body.results).toHaveLength(q === 'absent' ? 0 : 1);
    }
  });

  test('of 64 at once is of each caller’s company', async () => {
    const { body: theirs } = await neighbour.post('/api/projects/', { name: 'A sprocket of their own' });
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, nth) => {
        const by = nth % 2 ? neighbour : ada;
        return by.get(pathOf({ q: 'sprocket' }, by));
      }),
    );
    for (const [nth, { status, body }] of answers.entries())
      expect([status, body.results.map(({ _id }: { _id: number }) => _id)]).toEqual([
        200,
        [nth % 2 ? theirs._id : task._id],
      ]);
  });

  const distinct = (count: number, from: number, between = '') =>
    Array.from({ length: count }, (_, nth) => String.fromCodePoint(from + nth)).join(between);
  test.each([
    ['200 Chinese characters', distinct(200, 0x4e00)],
    ['200 Korean syllables', distinct(200, 0xac00)],
    ['100 words of a letter', distinct(100, 0x3b1, ' ')],
    ['three words of 66 letters', ['a', 'b', 'c'].map((letter) => letter.repeat(66)).join(' ')],
    ['200 letters that are folded to eighteen each', '\ufdfa'.repeat(200)],
  ])('for as much as q takes is answered soon: %s', async (_, q) => {
    const all = { kind: 'employee,project,task,comment', limit: '100', project_id: String(project._id) };
    const { body } = await ada.post('/api/tasks/', { projectId: project._id, title: q });
    const begun = performance.now();
    const answer = await ada.get(pathOf({ q, ...all }));
    expect({ status: answer.status, body: answer.body }).toMatchObject({
      status: 200,
      body: { results: [{ kind: 'task', _id: body._id }] },
    });
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  test('with a page of the longest texts comes whole, five times at once', async () => {
    const words = 'Zebra, gear & été '.repeat(3_000);
    const message = `<p>${words.replaceAll('&', '&amp;').slice(0, 60_000)}</p>`;
    for (let nth = 0; nth < 50; nth += 1) {
      const comment = { taskId: task._id, sender: ada.employeeId, message };
      expect((await ada.post('/api/task-chats/', comment)).status).toBe(200);
      const title = `Zebra ${'x'.repeat(190)}`;
      await ada.post('/api/tasks/', { projectId: project._id, title, description: words.slice(0, 10_000) });
    }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ada.get(pathOf({ q: 'zebra ete', limit: '100' }))),
    );
    const [{ body }] = answers as [(typeof answers)[0]];
    expect(body.results).toHaveLength(100);
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([200, body]);
  });

  test('shows no markup where a long message is cut', async () => {
    const filler = '<b>x</b> '.repeat(1_775);
    for (const [nth, end] of ['<a href="https://example.com/cut">far</a>', '&amp;&amp;&amp;&amp;'].entries())
      for (let shift = 0; shift < 3; shift += 1) {
        const word = `needle${nth}${shift}`;
        const message = `<p>${filler}${'y'.repeat(3 * nth + shift)} ${word} ${end}</p>`;
        expect(message.indexOf(word)).toBeLessThan(16_000);
        expect(message.length).toBeGreaterThan(16_000);
        const comment = { taskId: task._id, sender: ada.employeeId, message };
        expect((await ada.post('/api/task-chats/', comment)).status).toBe(200);
        const { body } = await ada.get(pathOf({ q: word }));
        expect(body.results[0].excerpt.text).toMatch(new RegExp(`^[…xy ]+${word}(?: &*)?…?$`));
      }
  });
});
