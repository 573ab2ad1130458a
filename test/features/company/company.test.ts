import { describe, expect, inject, test } from 'vitest';
import { errorOf, type Answer } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

const service = await startService();
const { db } = service.database;
const ada = await service.registerCompany({ name: 'Engines' });
const grace = await service.addEmployee(ada);
const neighbour = await service.registerCompany({ name: 'Looms' });

const detailsOf = (companyId: number) => `/company/${companyId}/details/`;
const updateOf = (companyId: number) => `/company/${companyId}/update/`;
const days = (count: number) => new Date(service.clock.now().getTime() + count * 86_400_000);

async function addSubscription(companyId: number, plan: string, status: string, endsAt: Date | null): Promise<number> {
  const { plan_id } = await db.selectFrom('plans').where('code', '=', plan).select('plan_id').executeTakeFirstOrThrow();
  const { subscription_id } = await db
    .insertInto('subscriptions')
    .values({
      company_id: companyId,
      plan_id,
      status,
      trial: false,
      starts_at: days(-10),
      ends_at: endsAt,
      created_at: days(-10),
    })
    .returning('subscription_id')
    .executeTakeFirstOrThrow();
  return subscription_id;
}

async function pay(companyId: number, subscriptionId: number, amount: number, status: string, paidAt: Date | null) {
  const values = { company_id: companyId, subscription_id: subscriptionId, amount, currency: 'USD', status };
  await db
    .insertInto('payments')
    .values({ ...values, paid_at: paidAt, created_at: service.clock.now() })
    .execute();
}

const issuesOf = async (body: unknown) => errorOf(await ada.put(updateOf(ada.companyId), body)).issues;

describe('the details of a company', () => {
  test('tell any employee its profile, its trial and every plan relative to the current one', async () => {
    const { status, body } = await grace.get(detailsOf(ada.companyId));
    expect(status).toBe(200);
    expect(body.company).toEqual({
      company_id: ada.companyId,
      name: 'Engines',
      timezone: 'UTC',
      owner_id: ada.employeeId,
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    });
    expect(body.latestPayment).toBeNull();
    expect(body.subscriptions).toEqual([
      {
        _id: expect.any(Number),
        plan: 'team',
        status: 'trialing',
        startsAt: expect.any(String),
        endsAt: expect.any(String),
        trial: true,
      },
    ]);
    expect(body.plans.map((plan: { code: string; change: string }) => [plan.code, plan.change])).toEqual([
      ['starter', 'downgrade'],
      ['team', 'current'],
      ['business', 'upgrade'],
      ['enterprise', 'upgrade'],
    ]);
    expect(body.plans[1]).toMatchObject({ name: 'Team', pricePerMonth: 49, currency: 'USD', maxEmployees: 50 });
    expect(body.plans[3]).toMatchObject({ maxEmployees: null, storageBytes: 5_497_558_138_880 });
  });

  test('name the latest payment that stands, and none that failed, is pending or was paid back', async () => {
    const company = await service.registerCompany();
    const subscription = await addSubscription(company.companyId, 'team', 'active', null);
    const paidAt = days(-3);
    await pay(company.companyId, subscription, 49.5, 'paid', paidAt);
    await pay(company.companyId, subscription, 12, 'paid', days(-8));
    await pay(company.companyId, subscription, 30, 'refunded', days(-1));
    await pay(company.companyId, subscription, 31, 'failed', null);
    await pay(company.companyId, subscription, 32, 'pending', null);
    const { body } = await company.get(detailsOf(company.companyId));
    expect(body.latestPayment).toEqual({
      _id: expect.any(Number),
      amount: 49.5,
      currency: 'USD',
      status: 'paid',
      paidAt: paidAt.toISOString(),
    });
    const others = await ada.get(detailsOf(ada.companyId));
    expect(others.body.latestPayment).toBeNull();
  });

  test('list subscriptions that run, the highest of them being the current plan', async () => {
    const company = await service.registerCompany();
    await addSubscription(company.companyId, 'business', 'past_due', null);
    await addSubscription(company.companyId, 'starter', 'active', days(5));
    await addSubscription(company.companyId, 'enterprise', 'cancelled', days(5));
    await addSubscription(company.companyId, 'enterprise', 'expired', null);
    await addSubscription(company.companyId, 'enterprise', 'active', days(-1));
    const { body } = await company.get(detailsOf(company.companyId));
    expect(body.subscriptions.map((one: { plan: string }) => one.plan).toSorted()).toEqual([
      'business',
      'starter',
      'team',
    ]);
    expect(body.plans.map((plan: { change: string }) => plan.change)).toEqual([
      'downgrade',
      'downgrade',
      'current',
      'upgrade',
    ]);
  });

  test('are not found for another company, in the words of one that does not exist', async () => {
    const foreign = await neighbour.get(detailsOf(ada.companyId));
    const absent = await neighbour.get(detailsOf(999_999));
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect({ ...foreign.body, requestId: '', instance: '' }).toEqual({ ...absent.body, requestId: '', instance: '' });
  });
});

describe('the update of a company', () => {
  test('changes what is sent, keeps what is not, and leaves the neighbour alone', async () => {
    const before = await neighbour.get(detailsOf(neighbour.companyId));
    service.clock.advance({ minutes: 1 });
    const renamed = await ada.put(updateOf(ada.companyId), { name: ' Analytical Engines ' });
    expect(renamed.status).toBe(200);
    expect(renamed.body).toMatchObject({ company_id: ada.companyId, name: 'Analytical Engines', timezone: 'UTC' });
    expect(renamed.body.updatedAt > renamed.body.createdAt).toBe(true);
    const moved = await ada.put(updateOf(ada.companyId), { timezone: 'Europe/Berlin', owner_id: grace.employeeId });
    expect(moved.body).toMatchObject({
      name: 'Analytical Engines',
      timezone: 'Europe/Berlin',
      owner_id: ada.employeeId,
    });
    expect((await grace.get(detailsOf(ada.companyId))).body.company).toEqual(moved.body);
    expect((await neighbour.get(detailsOf(neighbour.companyId))).body).toEqual(before.body);
  });

  test('takes every time zone that the runtime lists, and the aliases that IANA keeps', async () => {
    const names = ['UTC', 'Etc/UTC', 'Asia/Kolkata', 'Europe/Kyiv', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'];
    for (const timezone of [...names, ...Intl.supportedValuesOf('timeZone').slice(0, 12)]) {
      const { status, body } = await ada.put(updateOf(ada.companyId), { timezone });
      expect({ status, timezone: body.timezone }).toEqual({ status: 200, timezone });
    }
  });

  test.each([
    '+02:00',
    'UTC+2',
    'EST5EDT',
    'GMT0',
    'Mars/Olympus',
    'europe/berlin',
    'ASIA/KOLKATA',
    'posix/Europe/Berlin',
    'right/UTC',
    'localtime',
    'Factory',
    '',
    "UTC'; drop table companies; --",
  ])('refuses %j as a time zone and changes nothing', async (timezone) => {
    const before = await ada.get(detailsOf(ada.companyId));
    const answer = await ada.put(updateOf(ada.companyId), { name: 'Never', timezone });
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['timezone'] });
    expect((await ada.get(detailsOf(ada.companyId))).body.company).toEqual(before.body.company);
  });

  test('refuses a blank name and null', async () => {
    expect(await issuesOf({ name: '  ' })).toEqual(['name']);
    expect(await issuesOf({ name: null, timezone: null })).toEqual(['name', 'timezone']);
    expect(await issuesOf({ name: 'x'.repeat(201) })).toEqual(['name']);
  });

  test('is for admins: a team leader and an employee change nothing', async () => {
    const leader = await service.addEmployee(ada, { isTeamLeader: true });
    for (const person of [grace, leader]) {
      const answer = await person.put(updateOf(ada.companyId), { name: 'Mine' });
      expect(errorOf(answer)).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
    }
    expect((await ada.get(detailsOf(ada.companyId))).body.company.name).not.toBe('Mine');
  });

  test('is not found for another company, and changes nothing there', async () => {
    const foreign = await neighbour.put(updateOf(ada.companyId), { name: 'Ours' });
    const absent = await neighbour.put(updateOf(999_999), { name: 'Ours' });
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(absent)).toEqual(errorOf(foreign));
    expect(foreign.body.detail).toBe(absent.body.detail);
    expect((await ada.get(detailsOf(ada.companyId))).body.company.name).not.toBe('Ours');
  });

  test('needs a sign-in', async () => {
    expect(errorOf(await service.anonymous.put(updateOf(ada.companyId), { name: 'x' })).status).toBe(401);
    expect(errorOf(await service.anonymous.get(detailsOf(ada.companyId))).status).toBe(401);
  });
});

describe('many changes of the time zone at once', () => {
  // The embedded database runs one transaction at a time anyway.
  test.runIf(inject('template').kind === 'server')(
    'wait without a connection, so others go on writing, and end in the last one that was made',
    async () => {
      const one = await service.registerCompany();
      const other = await service.registerCompany();
      const { taskId } = await startWork(other);
      const zones = Intl.supportedValuesOf('timeZone').slice(20, 40);
      let release = () => {};
      const held = service.database.db.transaction().execute(async (db) => {
        await db
          .selectFrom('companies')
          .where('company_id', '=', one.companyId)
          .select('company_id')
          .forUpdate()
          .execute();
        await new Promise<void>((resolve) => (release = resolve));
      });
      const changes = zones.map((timezone) => one.put(updateOf(one.companyId), { timezone }));
      const refused = await Promise.race([Promise.any(changes), held]);
      expect(errorOf(refused as Answer)).toEqual({ status: 503, code: 'OVERLOADED' });
      const writes = await Promise.all(
        Array.from({ length: 20 }, () =>
          other.post('/api/task-chats/', { taskId, sender: other.employeeId, message: 'Meanwhile' }),
        ),
      );
      expect(writes.map(({ status }) => status)).toEqual(Array(20).fill(200));
      release();
      await held;
      const answers = await Promise.all(changes);
      const made = answers.filter(({ status }) => status === 200);
      expect(made).toHaveLength(6);
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expect(errorOf(answer)).toEqual({ status: 503, code: 'OVERLOADED' });
        expect(answer.headers.get('retry-after')).toBe('1');
      }
      const { body } = await one.get(`/company/${one.companyId}/details/`);
      expect(made.map((answer) => answer.body.timezone)).toContain(body.company.timezone);
    },
  );
});
