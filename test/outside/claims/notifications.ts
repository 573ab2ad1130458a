import { describe, expect, test } from 'vitest';
import { got, said } from '../caller.ts';
import type { Person } from '../people.ts';
import { service } from '../running.ts';
import { addProject, addTask, fields, fieldsOf } from '../work.ts';
import { waitFor } from '../../support/waiting.ts';

/*
 * Contract 4: notifications. Those of comments and likes are in comments.ts, of exceeded hours in task-logs.ts. Those of
 * `need_attention` and "due tomorrow" need a clock: test/features/notifications/notifications-causes.test.ts.
 */

const admin = await service.register();
const project = await addProject(admin);
const record = fields(
  '_id, recipient_id, app_type, category, priorty, title, message, link, actor, taskId, commentId, projectId, isMention, read, starred, later, isArchive, createdAt',
);
const pageOf = async (who: Person, query = '') => got(await who.get(`/notifications/recipient/${who._id}/${query}`));
const unread = async (who: Person): Promise<number> =>
  got(await who.get(`/notifications/unread-count/${who._id}/`)).unread;

/** Somebody with so many notifications of tasks that they were assigned. */
async function notified(count: number): Promise<Person> {
  const person = await service.join(admin);
  for (let nth = 0; nth < count; nth += 1)
    await addTask(admin, { projectId: project._id, owner_id: person._id, title: `Task ${nth}` });
  await waitFor(async () => expect((await pageOf(person)).total).toBe(count));
  return person;
}

describe('contract 4, a notification', () => {
  test('has exactly these fields', async () => {
    const person = await notified(1);
    const [one] = (await pageOf(person)).results;
    expect(fieldsOf(one)).toEqual(record);
    expect(one).toMatchObject({
      recipient_id: person._id,
      app_type: 'task',
      category: 'task',
      actor: { _id: admin._id, name: admin.name },
      projectId: project._id,
      commentId: null,
      isMention: false,
      read: false,
      starred: false,
      later: false,
      isArchive: false,
    });
    expect(one.taskId).toBeGreaterThan(0);
  });

  test('of category task comes to who is assigned a task or made its collaborator', async () => {
    const [owner, collaborator] = [await service.join(admin), await service.join(admin)];
    await addTask(admin, { projectId: project._id, owner_id: owner._id, collaboratorIds: [collaborator._id] });
    for (const who of [owner, collaborator])
      await waitFor(async () =>
        expect((await pageOf(who)).results).toMatchObject([{ category: 'task', app_type: 'task' }]),
      );
  });

  test('of category project comes to who is made the owner of a project', async () => {
    const owner = await service.join(admin);
    const { _id } = await addProject(admin, { owner_id: owner._id });
    await waitFor(async () =>
      expect((await pageOf(owner)).results).toMatchObject([{ category: 'project', projectId: _id, taskId: null }]),
    );
  });

  test('of category notice comes to everybody when the company changes, as hr', async () => {
    const boss = await service.register();
    const member = await service.join(boss);
    got(await boss.put(`/company/${boss.companyId}/update/`, { name: 'Another name' }));
    await waitFor(async () =>
      expect((await pageOf(member)).results).toMatchObject([
        { category: 'notice', app_type: 'hr', taskId: null, projectId: null },
      ]),
    );
  });
});

describe('contract 4, GET /notifications/recipient/{recipient_id}/', async () => {
  const person = await notified(23);

  test('answers pages of 10, newest first, and how many there are', async () => {
    const first = await pageOf(person);
    expect(fieldsOf(first)).toEqual(fields('results, page, pageSize, total, totalPages'));
    expect(first).toMatchObject({ page: 1, pageSize: 10, total: 23, totalPages: 3 });
    const pages = [first, await pageOf(person, '?page=2'), await pageOf(person, '?page=3')];
    expect(pages.map(({ results }) => results.length)).toEqual([10, 10, 3]);
    const all = pages.flatMap(({ results }) => results);
    expect(new Set(all.map(({ _id }) => _id)).size).toBe(23);
    const times = all.map(({ createdAt }) => Date.parse(createdAt));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  test('answers an empty page past the end', async () => {
    for (const page of [4, 999_999, 9_007_199_254_740_991])
      expect(await pageOf(person, `?page=${page}`)).toEqual({
        results: [],
        page,
        pageSize: 10,
        total: 23,
        totalPages: 3,
      });
    for (const page of ['0', '-1', 'x', '1.5'])
      expect(said(await person.get(`/notifications/recipient/${person._id}/?page=${page}`))).toMatch(
        /^400 VALIDATION_FAILED page:/,
      );
  });

  test('filters by each documented parameter', async () => {
    const [one] = (await pageOf(person)).results;
    got(
      await person.patch(`/api/notifications/${one._id}/`, { isArchive: true, later: true, read: true, starred: true }),
    );
    for (const name of ['isArchive', 'later', 'read', 'starred']) {
      expect((await pageOf(person, `?${name}=true`)).results.map(({ _id }: { _id: number }) => _id)).toEqual([one._id]);
      expect((await pageOf(person, `?${name}=false`)).total).toBe(22);
    }
    expect((await pageOf(person, '?isMention=true')).total).toBe(0);
    expect((await pageOf(person, '?isMention=false')).total).toBe(23);
    expect((await pageOf(person, '?app_type=task&category=task&priorty=primary')).total).toBe(23);
    for (const query of ['app_type=hr', 'category=message', 'priorty=others'])
      expect((await pageOf(person, `?${query}`)).total).toBe(0);
  });

  test('takes app_type and booleans without regard to case', async () => {
    for (const query of ['app_type=TASK', 'app_type=Task', 'isMention=FALSE', 'isMention=False'])
      expect((await pageOf(person, `?${query}`)).total).toBe(23);
  });
});

describe('contract 4, notification states', () => {
  test('PATCH read marks one as read and answers it', async () => {
    const person = await notified(2);
    const [one] = (await pageOf(person)).results;
    const answered = got(await person.patch(`/api/notifications/read/${one._id}/`));
    expect(answered).toEqual({ ...one, read: true });
    expect(got(await person.patch(`/api/notifications/read/${one._id}/`))).toEqual(answered);
    expect(await unread(person)).toBe(1);
    expect(said(await admin.patch(`/api/notifications/read/${one._id}/`))).toBe('404 NOT_FOUND');
  });

  test('POST mark all answers how many were updated', async () => {
    const person = await notified(3);
    const path = `/mark_notifications_as_read/${person._id}/`;
    expect(got(await person.post(path))).toEqual({ updated: 3 });
    expect(got(await person.post(path))).toEqual({ updated: 0 });
    expect(await unread(person)).toBe(0);
  });

  test('GET unread-count counts the unread', async () => {
    const person = await notified(3);
    expect(got(await person.get(`/notifications/unread-count/${person._id}/`))).toEqual({ unread: 3 });
  });

  test('DELETE deletes those listed; identifiers of others delete nothing and are not reported', async () => {
    const [person, other] = [await notified(3), await notified(1)];
    const ids = (await pageOf(person)).results.map(({ _id }: { _id: number }) => _id);
    const [foreign] = (await pageOf(other)).results;
    const remove = (notification_ids: number[]) => person.delete('/notifications/delete/', { notification_ids });
    expect(got(await remove([ids[0], foreign._id, 987_654_321]))).toEqual({ deleted: 1 });
    expect(got(await remove([ids[0]]))).toEqual({ deleted: 0 });
    expect((await pageOf(other)).total).toBe(1);
    expect([(await pageOf(person)).total, await unread(person)]).toEqual([2, 2]);
  });

  test('DELETE clear deletes all of one’s own', async () => {
    const [person, other] = [await notified(2), await notified(1)];
    expect(got(await person.delete(`/notifications/${person._id}/clear/`))).toEqual({ deleted: 2 });
    expect([(await pageOf(person)).total, await unread(person), (await pageOf(other)).total]).toEqual([0, 0, 1]);
  });

  test('PATCH changes any of isArchive, later, starred, read', async () => {
    const person = await notified(1);
    const [one] = (await pageOf(person)).results;
    for (const name of ['isArchive', 'later', 'starred', 'read'])
      for (const value of [true, false])
        expect(got(await person.patch(`/api/notifications/${one._id}/`, { [name]: value }))).toMatchObject({
          _id: one._id,
          [name]: value,
        });
    expect(said(await admin.patch(`/api/notifications/${one._id}/`, { read: true }))).toBe('404 NOT_FOUND');
  });

  test('preferences by category say what comes in the app', async () => {
    const person = await service.join(admin);
    const path = `/api/notification-preferences/${person._id}/`;
    const before = got(await person.get(path));
    for (const category of ['task', 'project', 'need_attention', 'message', 'notice'])
      expect(before[category]).toEqual({ inApp: expect.any(Boolean), email: expect.any(Boolean) });
    const task = { inApp: false, email: false };
    expect(got(await person.put(path, { task }))).toEqual({ ...before, task });
    await addTask(admin, { projectId: project._id, owner_id: person._id });
    await addProject(admin, { owner_id: person._id });
    await waitFor(async () => expect((await pageOf(person)).results).toMatchObject([{ category: 'project' }]));
  });
});
