import { afterEach, describe, expect, test } from 'vitest';
import { notify, type NewNotification } from '../../../server/features/notifications/notify.ts';
import { verifyCounts } from '../../../db/derived/verify-counts.ts';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const admin = await service.registerCompany();
let events = 0;

/** Notifies a person, as a job handler does. */
async function tell(recipient: Actor, ...more: Partial<NewNotification>[]): Promise<void> {
  const notifications = more.map((one) => ({
    recipientId: recipient.employeeId,
    cause: `fact ${(events += 1)}`,
    appType: 'task' as const,
    category: 'task' as const,
    priority: 'primary' as const,
    title: 'Title',
    message: 'Message',
    link: null,
    actorId: admin.employeeId,
    ...one,
  }));
  await service.database.db
    .transaction()
    .execute((db) => notify(db, recipient.companyId, notifications, service.clock.now()));
}

const times = (count: number): Partial<NewNotification>[] => Array.from({ length: count }, () => ({}));
const listOf = (actor: Actor, query = '') => actor.get(`/notifications/recipient/${actor.employeeId}/${query}`);
const unreadOf = async (actor: Actor) =>
  (await actor.get(`/notifications/unread-count/${actor.employeeId}/`)).body.unread as number;

afterEach(async function whatIsKeptIsWhatIsThere() {
  const { differences } = await verifyCounts(service.database.db, admin.companyId);
  if (differences.length > 0) throw new Error(`counts differ: ${JSON.stringify(differences)}`);
});

describe('the list', () => {
  test('shows ten a page, the newest first, with the total', async () => {
    const person = await service.addEmployee(admin);
    await tell(person, ...times(23));
    const first = await listOf(person);
    expect(first.body).toMatchObject({ page: 1, pageSize: 10, total: 23, totalPages: 3 });
    const ids = (first.body.results as { _id: number }[]).map((one) => one._id);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    expect((await listOf(person, '?page=3')).body.results).toHaveLength(3);
    expect((await listOf(person, '?page=4')).body).toMatchObject({ results: [], page: 4, total: 23 });
  });

  test('holds every field of a notification', async () => {
    const person = await service.addEmployee(admin);
    await tell(person, {
      category: 'message',
      priority: 'updates',
      isMention: true,
      link: 'https://app.example.test/x',
    });
    const { body } = await listOf(person);
    expect(body.results).toEqual([
      {
        _id: expect.any(Number),
        recipient_id: person.employeeId,
        app_type: 'task',
        category: 'message',
        priorty: 'updates',
        title: 'Title',
        message: 'Message',
        link: 'https://app.example.test/x',
        actor: { _id: admin.employeeId, name: admin.name },
        taskId: null,
        commentId: null,
        projectId: null,
        isMention: true,
        read: false,
        starred: false,
        later: false,
        isArchive: false,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    ]);
  });

  test('is filtered by each parameter as documented, app type and flags without regard to case', async () => {
    const person = await service.addEmployee(admin);
    await tell(
      person,
      { appType: 'hr', category: 'notice', priority: 'others' },
      { isMention: true, priority: 'activity' },
      {},
    );
    const { results } = (await listOf(person)).body;
    const path = (one: { _id: number }) => `/api/notifications/${one._id}/`;
    await person.patch(path(results[0]), { isArchive: true, later: true });
    await person.patch(path(results[1]), { starred: true, read: true });
    const totals: Record<string, number> = {
      '?app_type=HR': 1,
      '?app_type=hr': 1,
      '?app_type=Task': 2,
      '?category=notice': 1,
      '?priorty=activity': 1,
      '?priority=activity': 1,
      '?priority=activity&priorty=primary': 1,
      '?isArchive=true': 1,
      '?isArchive=FALSE': 2,
      '?later=True': 1,
      '?read=true': 1,
      '?read=false': 2,
      '?starred=true': 1,
      '?isMention=true': 1,
      '?isMention=false&app_type=hr': 1,
      '?starred=true&later=true': 0,
    };
    for (const [query, total] of Object.entries(totals)) {
      const { body } = await listOf(person, query);
      expect([query, body.total, body.results.length]).toEqual([query, total, total]);
    }
  });

  test.each(['app_type=crm', 'category=x', 'priorty=high', 'read=yes', 'page=0', 'page=x'])(
    'refuses %s by naming it',
    async (query) => {
      const answer = await listOf(admin, `?${query}`);
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: [query.split('=')[0]] });
    },
  );

  test('lists what is allowed where a value is unknown', async () => {
    expect((await listOf(admin, '?app_type=crm')).body.issues[0].message).toMatch(/hr.*task/);
  });
});

describe('reading', () => {
  test('one counts once, however often it is done, and the badge agrees with the list', async () => {
    const person = await service.addEmployee(admin);
    await tell(person, ...times(3));
    const [one] = (await listOf(person)).body.results;
    for (let time = 0; time < 2; time += 1) {
      const { body } = await person.patch(`/api/notifications/read/${one._id}/`);
      expect(body).toMatchObject({ _id: one._id, read: true });
    }
    expect(await unreadOf(person)).toBe(2);
    expect((await listOf(person, '?read=false')).body.total).toBe(2);
  });

  test('all answers how many were unread', async () => {
    const person = await service.addEmployee(admin);
    await tell(person, ...times(5));
    const path = `/mark_notifications_as_read/${person.employeeId}/`;
    expect((await person.post(path)).body).toEqual({ updated: 5 });
    expect((await person.post(path)).body).toEqual({ updated: 0 });
    expect(await unreadOf(person)).toBe(0);
  });

  test('the badge and the list agree after reading, unreading, deleting and new ones all at once', async () => {
    const person = await service.addEmployee(admin);
    await tell(person, ...times(20));
    const ids = ((await listOf(person)).body.results as { _id: number }[]).map((one) => one._id);
    await Promise.all([
      ...ids.slice(0, 5).map((id) => person.patch(`/api/notifications/read/${id}/`)),
      ...ids.slice(3, 8).map((id) => person.patch(`/api/notifications/${id}/`, { read: true })),
      person.delete('/notifications/delete/', { notification_ids: ids.slice(6) }),
      person.delete('/notifications/delete/', { notification_ids: ids.slice(5) }),
      ...ids.slice(2, 7).map((id) => person.patch(`/api/notifications/${id}/`, { starred: true, isArchive: true })),
      ...ids.slice(0, 4).map((id) => person.patch(`/api/notifications/${id}/`, { later: true, isArchive: false })),
      ...Array.from({ length: 5 }, () => tell(person, { appType: 'hr', isMention: true })),
      person.post(`/mark_notifications_as_read/${person.employeeId}/`),
    ]);
    const unread = await unreadOf(person);
    expect((await listOf(person, '?read=false')).body.total).toBe(unread);
    const totalOf = async (query: string): Promise<number> => (await listOf(person, query)).body.total;
    for (const flag of ['isArchive', 'starred', 'later', 'isMention'])
      expect((await totalOf(`?${flag}=true`)) + (await totalOf(`?${flag}=false`))).toBe(await totalOf(''));
  });
});

describe('deleting', () => {
  test('counts what went, and leaves the notifications of others alone', async () => {
    const person = await service.addEmployee(admin);
    const other = await service.addEmployee(admin);
    await tell(person, ...times(3));
    await tell(other, {});
    const mine = ((await listOf(person)).body.results as { _id: number }[]).map((one) => one._id);
    const theirs = ((await listOf(other)).body.results as { _id: number }[]).map((one) => one._id);
    const { body } = await person.delete('/notifications/delete/', {
      notification_ids: [mine[0], mine[0], ...theirs, 999_999],
    });
    expect(body).toEqual({ deleted: 1 });
    expect(await unreadOf(other)).toBe(1);
    expect((await person.delete(`/notifications/${person.employeeId}/clear/`)).body).toEqual({ deleted: 2 });
    expect((await listOf(person)).body.total).toBe(0);
    expect((await listOf(other)).body.total).toBe(1);
  });

  test.each([[[]], [[0]], [['1']], [Array.from({ length: 1001 }, (_, index) => index + 1)]])(
    'refuses a list that is no list of 1 to 1,000 identifiers',
    async (ids) => {
      expect(errorOf(await admin.delete('/notifications/delete/', { notification_ids: ids }))).toMatchObject({
        status: 400,
        code: 'VALIDATION_FAILED',
      });
    },
  );
});

describe("somebody else's notifications", () => {
  test('are refused to a colleague, and not there for a stranger', async () => {
    const person = await service.addEmployee(admin);
    const outsider = await service.registerCompany();
    await tell(person, {});
    const [one] = (await listOf(person)).body.results;
    const own = [
      ['GET', `/notifications/recipient/${person.employeeId}/`],
      ['POST', `/mark_notifications_as_read/${person.employeeId}/`],
      ['DELETE', `/notifications/${person.employeeId}/clear/`],
      ['GET', `/notifications/unread-count/${person.employeeId}/`],
      ['GET', `/api/notification-preferences/${person.employeeId}/`],
      ['PUT', `/api/notification-preferences/${person.employeeId}/`],
    ] as const;
    for (const [method, path] of own) {
      const body = method === 'GET' ? undefined : {};
      expect([path, errorOf(await admin.send(method, path, body))]).toEqual([path, { status: 403, code: 'FORBIDDEN' }]);
      expect([path, errorOf(await outsider.send(method, path, body))]).toEqual([
        path,
        { status: 404, code: 'NOT_FOUND' },
      ]);
    }
    for (const caller of [admin, outsider]) {
      expect(errorOf(await caller.patch(`/api/notifications/read/${one._id}/`))).toEqual({
        status: 404,
        code: 'NOT_FOUND',
      });
      expect(errorOf(await caller.patch(`/api/notifications/${one._id}/`, { read: true }))).toEqual({
        status: 404,
        code: 'NOT_FOUND',
      });
    }
    expect(await unreadOf(person)).toBe(1);
  });
});

describe('flags', () => {
  test('are changed by name', async () => {
    const person = await service.addEmployee(admin);
    await tell(person, {});
    const [one] = (await listOf(person)).body.results;
    const path = `/api/notifications/${one._id}/`;
    expect((await person.patch(path, { isArchive: true, later: true, starred: true })).body).toMatchObject({
      isArchive: true,
      later: true,
      starred: true,
      read: false,
    });
    expect((await person.patch(path, { starred: false, read: true })).body).toMatchObject({
      isArchive: true,
      starred: false,
      read: true,
    });
    expect((await person.patch(path, { read: false })).body).toMatchObject({ read: false });
    expect(await unreadOf(person)).toBe(1);
    expect(errorOf(await person.patch(path, { starred: 'yes' }))).toMatchObject({ status: 400, issues: ['starred'] });
  });
});

describe('preferences', () => {
  test('answer all categories, change some, and decide what is shown from then on', async () => {
    const person = await service.addEmployee(admin);
    const path = `/api/notification-preferences/${person.employeeId}/`;
    const before = (await person.get(path)).body;
    expect(Object.keys(before)).toEqual(['task', 'project', 'need_attention', 'message', 'notice']);
    const changed = await person.put(path, { notice: { inApp: false, email: false } });
    expect(changed.body).toEqual({ ...before, notice: { inApp: false, email: false } });
    await tell(person, { category: 'notice' }, { category: 'task' });
    expect((await listOf(person)).body.results).toMatchObject([{ category: 'task' }]);
    expect(await unreadOf(person)).toBe(1);
    expect(errorOf(await person.put(path, { notice: { inApp: 'no' } }))).toMatchObject({
      status: 400,
      issues: ['notice.inApp', 'notice.email'],
    });
  });
});

describe('a notification', () => {
  test('is made once for one cause, also by twenty jobs at once', async () => {
    const person = await service.addEmployee(admin);
    await Promise.all(Array.from({ length: 20 }, () => tell(person, { cause: 'the same' })));
    expect((await listOf(person)).body.total).toBe(1);
    expect(await unreadOf(person)).toBe(1);
  });
});
