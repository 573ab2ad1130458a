import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { dayAfter, setHolidays } from '../../support/hours.ts';
import { startService } from '../../support/service.ts';

/* The holidays of a company: who sets and sees them, and how a list replaces those of its days. */

const service = await startService();
const [from, to] = ['2026-01-01', '2026-12-31'];
const newYear = { date: '2026-01-01', name: 'New Year’s Day' };
const patrick = { date: '2026-03-17', name: 'Saint Patrick’s Day' };
const christmas = { date: '2026-12-25', name: 'Christmas Day' };

const list = (actor: Actor, query = `from=${from}&to=${to}`, companyId = actor.companyId) =>
  actor.get(`/api/holidays/${companyId}/?${query}`);

describe('the holidays of a range', () => {
  test('are exactly those of the list afterwards, and others stay', async () => {
    const admin = await service.registerCompany();
    const of = (...holidays: object[]) => ({ from, to, holidays });
    expect((await list(admin)).body).toEqual(of());
    expect((await setHolidays(admin, from, to, [christmas, newYear])).body).toEqual(of(newYear, christmas));
    expect((await setHolidays(admin, '2026-03-01', '2026-03-31', [patrick])).body.holidays).toEqual([patrick]);
    expect((await list(admin)).body).toEqual(of(newYear, patrick, christmas));
    const renamed = { ...patrick, name: 'St. Patrick' };
    await setHolidays(admin, patrick.date, patrick.date, [renamed]);
    expect((await list(admin)).body).toEqual(of(newYear, renamed, christmas));
    await setHolidays(admin, '2026-01-02', '2026-12-24', []);
    expect((await list(admin)).body).toEqual(of(newYear, christmas));
    expect((await list(admin, 'from=2026-01-02&to=2026-12-25')).body.holidays).toEqual([christmas]);
  });

  test('are set by admins and seen by every employee of the company, and by nobody else', async () => {
    const admin = await service.registerCompany();
    const leader = await service.addEmployee(admin, { isTeamLeader: true });
    const grace = await service.addEmployee(admin);
    const neighbour = await service.registerCompany();
    await setHolidays(admin, from, to, [newYear]);
    for (const actor of [leader, grace]) {
      expect(errorOf(await setHolidays(actor, from, to, []))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
      expect((await list(actor)).body.holidays).toEqual([newYear]);
    }
    const theirs = `/api/holidays/${admin.companyId}/`;
    for (const answer of [
      await list(neighbour, undefined, admin.companyId),
      await neighbour.put(theirs, { from, to, holidays: [] }),
    ])
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
    await admin.delete(`/api/employees/${grace.employeeId}/`);
    expect((await list(grace)).status).toBe(401);
    expect((await list(admin)).body.holidays).toEqual([newYear]);
    expect((await list(neighbour)).body.holidays).toEqual([]);
  });

  test('are each on another day of the range, and a wrong one is named by its index', async () => {
    const admin = await service.registerCompany();
    await setHolidays(admin, from, to, [newYear]);
    const wrong = [christmas, { ...christmas, name: 'Again' }, { date: '2027-01-01', name: 'Late' }, patrick, patrick];
    const answer = await setHolidays(admin, from, to, wrong);
    expect(errorOf(answer)).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['holidays.1.date', 'holidays.2.date', 'holidays.4.date'],
    });
    const codes = answer.body.issues.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(['duplicate', 'out_of_range', 'duplicate']);
    for (const [range, holidays, issues] of [
      [[to, from], [], ['to']],
      [['2026-01-01', '2027-01-02'], [], ['to']],
      [[from, to], [{ date: '2026-02-30', name: 'Never' }], ['holidays.0.date']],
      [[from, to], [{ date: from, name: ' ' }], ['holidays.0.name']],
      [[from, to], [{ date: from, name: 'x'.repeat(101) }], ['holidays.0.name']],
    ] as const)
      expect(errorOf(await setHolidays(admin, range[0], range[1], [...holidays]))).toEqual({
        status: 400,
        code: 'VALIDATION_FAILED',
        issues,
      });
    expect(errorOf(await list(admin, 'from=2026-01-01&to=2027-01-02')).issues).toEqual(['to']);
    expect((await list(admin)).body.holidays).toEqual([newYear]);
  });

  test('are every day of a leap year at most', async () => {
    const admin = await service.registerCompany();
    const all = Array.from({ length: 366 }, (_, nth) => ({ date: dayAfter('2028-01-01', nth), name: 'é'.repeat(100) }));
    expect((await setHolidays(admin, '2028-01-01', '2028-12-31', all)).body.holidays).toEqual(all);
    expect(errorOf(await setHolidays(admin, '2028-01-01', '2028-12-31', [...all, all[0]!])).issues).toEqual([
      'holidays',
    ]);
    expect((await setHolidays(admin, '9999-12-31', '9999-12-31', [{ date: '9999-12-31', name: 'Last' }])).status).toBe(
      200,
    );
  });

  test('are those of one list after many are sent at once', async () => {
    const admin = await service.registerCompany();
    const lists = Array.from({ length: 64 }, (_, nth) => [
      { date: newYear.date, name: `List ${nth}` },
      { date: dayAfter(newYear.date, 1 + nth), name: `List ${nth}` },
    ]);
    const answers = await Promise.all(lists.map((holidays) => setHolidays(admin, from, to, holidays)));
    expect(answers.map(({ body }) => body.holidays)).toEqual(lists);
    expect(lists).toContainEqual((await list(admin)).body.holidays);
  });

  test('are in the audit log with what has changed alone', async () => {
    const admin = await service.registerCompany();
    await setHolidays(admin, from, to, [newYear, christmas]);
    const renamed = { ...christmas, name: 'Christmas' };
    await setHolidays(admin, from, to, [newYear, patrick, renamed]);
    await setHolidays(admin, from, to, [newYear, patrick, renamed]);
    const { body } = await admin.get(`/api/audit/company/${admin.companyId}/?operation=holidays.replace`);
    const head = { event: 'holidays.replaced', kind: 'company', id: admin.companyId };
    expect(body.results.map((one: { changes: unknown[] }) => one.changes)).toEqual([
      [],
      [{ ...head, before: { holidays: [christmas] }, after: { holidays: [patrick, renamed] } }],
      [{ ...head, before: { holidays: [] }, after: { holidays: [newYear, christmas] } }],
    ]);
  });
});
