import { beforeEach, describe, expect, test } from 'vitest';
import type { Actor } from '../../support/actor.ts';
import { makeKey } from '../../support/api-key.ts';
import { dayAfter } from '../../support/hours.ts';
import { startService } from '../../support/service.ts';

/* A week before an API key expires, the one who made it is told by mail, once. */

const service = await startService();
const { clock, app, mailbox } = service;

let admin: Actor;
/** The day on which each test begins, at 06:00 UTC. */
let today: string;

beforeEach(async () => {
  today = new Date(clock.now().getTime() + 24 * 3_600_000).toISOString().slice(0, 10);
  advanceTo(`${today}T06:00:00Z`);
  await app.mornings.run();
  admin = await service.registerCompany();
});

function advanceTo(moment: string): void {
  clock.advance({ ms: new Date(moment).getTime() - clock.now().getTime() });
}

async function wakeAt(moment: string): Promise<void> {
  advanceTo(moment);
  await app.mornings.run();
  await service.drain();
}

const morningIn = async (days: number) => wakeAt(`${dayAfter(today, days)}T08:00:00Z`);

const keyUntil = async (by: Actor, days: number, name = 'Nightly import', time = '14:00') =>
  makeKey(service, by, ['time:read', 'tasks:read'], { name, expiresAt: `${dayAfter(today, days)}T${time}:00Z` });

const mailsTo = ({ email }: Actor) => mailbox.to(email).filter(({ template }) => template === 'api-key-expiry');

describe('the maker of a key', () => {
  test('is told once, on the morning a week before it expires', async () => {
    const { key } = await keyUntil(admin, 30);
    await morningIn(22);
    expect(mailsTo(admin)).toEqual([]);
    for (const days of [23, 24, 29]) {
      await morningIn(days);
      expect(mailsTo(admin)).toHaveLength(1);
    }
    const [mail] = mailsTo(admin);
    const end = dayAfter(today, 30);
    expect(mail!.subject).toBe(`Your API key “Nightly import” expires on ${end}`);
    expect(mail!.text).toContain(`expires on ${end}, 14:00 UTC`);
    expect(mail!.text).toContain('It was never used.');
    expect(mail!.text).toContain('time:read, tasks:read');
    expect(mail!.text).not.toContain(key);
  });

  test('is told alone, of each key, with its last use', async () => {
    const employee = await service.addEmployee(admin);
    const first = await keyUntil(employee, 10, 'First');
    await keyUntil(employee, 10, 'Second');
    await keyUntil(employee, 60, 'Later');
    await first.get('/api/api-keys/current/');
    await service.drain();
    await morningIn(3);
    expect(mailsTo(admin)).toEqual([]);
    const mails = mailsTo(employee).toSorted((a, b) => a.subject.localeCompare(b.subject));
    expect(mails.map(({ subject }) => subject)).toEqual([
      expect.stringContaining('“First”'),
      expect.stringContaining('“Second”'),
    ]);
    expect(mails[0]!.text).toMatch(/It was last used on \d{4}-\d{2}-\d{2}, \d{2}:\d{2} UTC\./);
  });

  test('is not told of one that was revoked, has no end, or lives for a week or less', async () => {
    const revoked = await keyUntil(admin, 20, 'Revoked');
    await makeKey(service, admin, ['read'], { name: 'Endless' });
    await keyUntil(admin, 7, 'Short', '06:00');
    await keyUntil(admin, 2, 'Shorter');
    await admin.delete(`/api/api-keys/${revoked._id}/`);
    for (const days of [0, 1, 13, 14]) await morningIn(days);
    expect(mailsTo(admin)).toEqual([]);
  });

  test('is told the next morning of one that lives a little longer than a week', async () => {
    await keyUntil(admin, 7, 'A week', '12:00');
    await morningIn(0);
    expect(mailsTo(admin)).toHaveLength(1);
  });

  test('is not told when they have left meanwhile, or the key ends before the mail is sent', async () => {
    const leaver = await service.addEmployee(admin);
    await keyUntil(leaver, 20);
    await admin.patch(`/api/employees/${leaver.employeeId}/`, { is_active: false });
    const late = await keyUntil(admin, 20, 'Late');
    advanceTo(`${dayAfter(today, 13)}T08:00:00Z`);
    await app.mornings.run();
    await admin.delete(`/api/api-keys/${late._id}/`);
    await service.drain();
    expect([...mailsTo(leaver), ...mailsTo(admin)]).toEqual([]);
  });

  test('is told in the morning of their company', async () => {
    await admin.put(`/company/${admin.companyId}/update/`, { timezone: 'Pacific/Auckland' });
    await keyUntil(admin, 20);
    // 14:00 UTC of that day is the next day there, and 08:00 there is the evening before.
    await wakeAt(`${dayAfter(today, 13)}T18:00:00Z`);
    expect(mailsTo(admin)).toHaveLength(0);
    await wakeAt(`${dayAfter(today, 13)}T20:30:00Z`);
    expect(mailsTo(admin)).toHaveLength(1);
  });
});

test('a company that is closed is not told; what was missed is made good', async () => {
  const owner = await service.signIn((await service.registerCompany({ name: 'Closing' })).email);
  await keyUntil(owner, 20);
  const path = `/api/company/${owner.companyId}`;
  await owner.post(`${path}/close/`, { name: 'Closing' });
  await morningIn(13);
  expect(mailsTo(owner)).toEqual([]);
  const again = await service.signIn(owner.email);
  expect((await again.post(`${path}/reopen/`)).status).toBe(200);
  await morningIn(15);
  expect(mailsTo(owner)).toHaveLength(1);
});

test('however many nodes plan and run the morning at once, each key has one mail', async () => {
  for (const name of ['One', 'Two', 'Three']) await keyUntil(admin, 20, name);
  advanceTo(`${dayAfter(today, 13)}T08:00:00Z`);
  await Promise.all(Array.from({ length: 8 }, () => app.mornings.run()));
  await Promise.all([service.drain(), service.drain()]);
  await app.mornings.run();
  await service.drain();
  expect(mailsTo(admin)).toHaveLength(3);
});
