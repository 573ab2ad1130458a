import { expect, test } from 'vitest';
import { authorizeQuery, consent, grantTo, isAccepted, refresh, registerClient } from '../../support/oauth.ts';
import { startService } from '../../support/service.ts';

/* What time does to grants and clients. Each test moves the clock, so each has people of its own. */

const service = await startService();
const errorIn = ({ status, body }: { status: number; body: { error: string } }) => ({ status, error: body.error });
const refused = (error: string) => ({ status: 400, error });

test('a grant expires after 30 days without a use', async () => {
  const grant = await grantTo(service, await service.registerCompany());
  service.clock.advance({ days: 29 });
  const { body: next } = await refresh(service, grant);
  service.clock.advance({ days: 30, seconds: 1 });
  expect(errorIn(await refresh(service, { ...grant, ...next }))).toEqual(refused('invalid_grant'));
});

test('a grant expires after 90 days, however often it was used', async () => {
  const grant = await grantTo(service, await service.registerCompany());
  for (let weeks = 0; weeks < 12; weeks += 1) {
    service.clock.advance({ days: 7 });
    Object.assign(grant, (await refresh(service, grant)).body);
  }
  service.clock.advance({ days: 6 });
  service.clock.advance({ minutes: -10 });
  const { body: last } = await refresh(service, grant);
  expect(last.expires_in).toBeLessThanOrEqual(600);
  service.clock.advance({ minutes: 11 });
  expect(errorIn(await refresh(service, { ...grant, ...last }))).toEqual(refused('invalid_grant'));
  expect(await isAccepted(service, last.access_token)).toBe(false);
});

test('a grant that has expired is swept after a week, and keys of people are not', async () => {
  const person = await service.registerCompany();
  const past = new Date(service.clock.now().getTime() + 60_000).toISOString();
  await person.post('/api/api-keys/', { name: 'Script', scopes: ['read'], expiresAt: past });
  await grantTo(service, person);
  await consent(person, await registerClient(service));
  const left = async () => {
    const ofCompany = service.database.db.selectFrom('api_keys').where('company_id', '=', person.companyId);
    return (await ofCompany.select('name').orderBy('api_key_id').execute()).map(({ name }) => name);
  };
  expect(await left()).toEqual(['Script', 'Planner', 'Planner']);
  service.clock.advance({ days: 8 });
  await service.app.sweep.run();
  expect(await left()).toEqual(['Script', 'Planner']);
  for (const days of [6, 12, 11]) {
    service.clock.advance({ days });
    await service.app.sweep.run();
  }
  expect(await left()).toEqual(['Script']);
});

test('a client that nobody has consented to is forgotten after a week, another one is not', async () => {
  const person = await service.registerCompany();
  const unused = await registerClient(service);
  const used = await registerClient(service);
  await consent(person, used);
  service.clock.advance({ days: 8 });
  await service.app.sweep.run();
  const status = async (clientId: string) => (await service.anonymous.get(authorizeQuery(clientId))).status;
  expect([await status(unused), await status(used)]).toEqual([400, 200]);
});
