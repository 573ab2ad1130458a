import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { commentCreated, commentLiked } from '../../server/features/comments/jobs.ts';
import { taskAssigned } from '../../server/features/tasks/assignment.ts';
import { createWorker } from '../../server/jobs/worker.ts';
import { enqueueJob, jobHandler } from '../../server/kernel/job.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';

/* Jobs of one kind and company that wait are run together, and each is retried by itself. */

const service = await startService();
const { database, clock, app, mailbox } = service;
beforeEach(() => database.db.deleteFrom('jobs').execute());

/** A kind of job that counts: jobs named `bad` fail, alone and in a batch. */
function startCounting() {
  const batches: string[][] = [];
  const alone: string[] = [];
  const run = (names: string[]) => {
    if (names.includes('bad')) throw new Error('it is bad');
  };
  const counted = jobHandler({
    name: 'counted',
    payload: z.object({ companyId: z.int(), name: z.string() }),
    async run(_, { name }) {
      alone.push(name);
      run([name]);
    },
    async runBatch(_, companyId, payloads) {
      const names = payloads.map(({ name }) => name);
      batches.push(names.map((name) => `${companyId} ${name}`));
      run(names);
    },
  });
  const enqueue = (companyId: number, name: string) =>
    enqueueJob(database.db, counted, {
      dedupeKey: `${companyId} ${name}`,
      payload: { companyId, name },
      now: clock.now(),
    });
  return { batches, alone, enqueue, worker: createWorker({ ...app.services, mailer: mailbox }, [counted]) };
}

const leftNames = async () =>
  (await database.db.selectFrom('jobs').select(['payload', 'attempts', 'last_error']).execute()).map(
    ({ payload, ...job }) => ({ name: (payload as { name: string }).name, ...job }),
  );

test('waiting jobs of a company are run in few batches, each once, and never with those of another company', async () => {
  const { batches, alone, enqueue, worker } = startCounting();
  const names = Array.from({ length: 100 }, (_, nth) => `job ${nth}`);
  for (const name of names) await enqueue(1, name);
  for (const name of names.slice(0, 3)) await enqueue(2, name);
  await worker.drain();
  expect(alone).toEqual([]);
  expect(batches.flat().toSorted()).toEqual(
    [...names.map((name) => `1 ${name}`), ...names.slice(0, 3).map((name) => `2 ${name}`)].toSorted(),
  );
  expect(batches.map((batch) => new Set(batch.map((one) => one.split(' ')[0])).size)).toEqual(batches.map(() => 1));
  expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(25);
  expect(batches.length).toBeLessThan(12);
  expect(worker.countAttempts()).toEqual([{ handler: 'counted', outcome: 'succeeded', count: 103 }]);
  expect(await leftNames()).toEqual([]);
});

test('a batch that fails is run job by job, and only the job that fails is retried, alone', async () => {
  const { batches, alone, enqueue, worker } = startCounting();
  for (const name of ['good', 'bad', 'better']) await enqueue(1, name);
  await worker.drain();
  expect([batches.length, alone]).toEqual([1, ['good', 'bad', 'better']]);
  expect(await leftNames()).toEqual([{ name: 'bad', attempts: 1, last_error: 'it is bad' }]);
  for (const name of ['new', 'newer']) await enqueue(1, name);
  clock.advance({ minutes: 1 });
  await worker.drain();
  expect(batches.slice(1).flat().toSorted()).toEqual(['1 new', '1 newer']);
  expect(alone.slice(3)).toEqual(['bad']);
  expect(await leftNames()).toEqual([{ name: 'bad', attempts: 2, last_error: 'it is bad' }]);
});

test('comments that wait together notify and mail everybody as one by one, also where they are run twice', async () => {
  const admin = await service.registerCompany();
  const author = await service.addEmployee(admin);
  const mentioned = await service.addEmployee(admin);
  const { taskId } = await startWork(admin);
  await service.drain();
  const own = Array.from({ length: 8 }, (_, nth) => `Comment ${nth}`);
  const said: number[] = [];
  for (const message of [...own, `Look, @${mentioned.email}`, `Here, @${mentioned.email}`]) {
    const { body } = await author.post('/api/task-chats/', { taskId, sender: author.employeeId, message });
    said.push(body._id as number);
  }
  const run = () =>
    commentCreated.runBatch!(
      { ...app.services, mailer: mailbox },
      admin.companyId,
      said.map((commentId) => ({ companyId: admin.companyId, commentId })),
    );
  await run();
  await run();
  await service.drain();
  const told = async (employeeId: number) => {
    const { rows } = await sql<{ comment_id: number }>`
      select comment_id from notifications where recipient_id = ${employeeId} order by comment_id`.execute(database.db);
    return rows.map((row) => row.comment_id);
  };
  expect(await told(admin.employeeId)).toEqual(said);
  expect(await told(mentioned.employeeId)).toEqual(said.slice(8));
  expect(await told(author.employeeId)).toEqual([]);
  expect(mailbox.to(mentioned.email).filter(({ subject }) => subject.includes('mentioned'))).toHaveLength(2);
  const { body } = await admin.get(`/notifications/unread-count/${admin.employeeId}/`);
  expect(body.unread).toBe(said.length);
});

test('likes that wait together tell the same as one by one, also where they are run twice; one taken back tells nobody', async () => {
  const owner = await service.registerCompany();
  const author = await service.addEmployee(owner);
  const liker = await service.addEmployee(owner);
  const likers = [liker, await service.addEmployee(owner)];
  const { companyId } = owner;
  const { taskId } = await startWork(owner);
  const comments: number[] = [];
  for (const message of ['One', 'Two', 'Three'])
    comments.push((await author.post('/api/task-chats/', { taskId, sender: author.employeeId, message })).body._id);
  await service.drain();
  const likes = comments.flatMap((commentId) => likers.map(({ employeeId }) => ({ companyId, commentId, employeeId })));
  for (const { commentId, employeeId } of likes)
    await likers.find((one) => one.employeeId === employeeId)!.post(`/api/like-chat/${employeeId}/${commentId}/`);
  await liker.post(`/api/dislike-chat/${liker.employeeId}/${comments[2]}/`);
  const run = () => commentLiked.runBatch!({ ...app.services, mailer: mailbox }, companyId, [...likes, likes[0]!]);
  await run();
  await run();
  await service.drain();
  const told = async (employeeId: number) => {
    const { rows } = await sql<{ cause: string }>`
      select cause from notifications where recipient_id = ${employeeId} and cause like '%liked%'`.execute(database.db);
    return rows.map(({ cause }) => cause).toSorted();
  };
  const expected = likes
    .filter(({ commentId, employeeId }) => commentId !== comments[2] || employeeId !== liker.employeeId)
    .map(({ commentId, employeeId }) => `comment ${commentId} liked by ${employeeId}`)
    .toSorted();
  expect([await told(owner.employeeId), await told(author.employeeId)]).toEqual([expected, expected]);
  expect(await told(liker.employeeId)).toEqual([]);
});

test('assignments that wait together tell the same as one by one, also where they are run twice', async () => {
  const admin = await service.registerCompany();
  const people = [await service.addEmployee(admin), await service.addEmployee(admin), await service.addEmployee(admin)];
  const [ann, bob, eve] = people.map(({ employeeId }) => employeeId);
  const { companyId } = admin;
  const { projectId } = await startWork(admin);
  await service.drain();
  const add = async (fields: object): Promise<number> =>
    (await admin.post('/api/tasks/', { projectId, title: 'Cut the gears', ...fields })).body._id;
  const kept = await add({ owner_id: ann, collaboratorIds: [bob] });
  const moved = await add({ owner_id: ann, collaboratorIds: [eve] });
  const gone = await add({ owner_id: eve });
  const { rows } = await sql<{ payload: never }>`select payload from jobs order by job_id`.execute(database.db);
  await admin.patch(`/api/tasks/${moved}/`, { owner_id: bob });
  await admin.delete(`/api/tasks/${gone}/`);
  const payloads = rows.map(({ payload }) => payload);
  for (let time = 0; time < 2; time += 1)
    await taskAssigned.runBatch!({ ...app.services, mailer: mailbox }, companyId, payloads);
  await service.drain();
  const told = async (employeeId: number) => {
    const { rows: causes } = await sql<{ task_id: number; title: string }>`
      select task_id, title from notifications where recipient_id = ${employeeId} order by task_id, title`.execute(
      database.db,
    );
    return causes.map(({ task_id: taskId, title }) => [
      taskId,
      title.includes('assigned you') ? 'owner' : 'collaborator',
    ]);
  };
  expect([await told(ann!), await told(bob!), await told(eve!)]).toEqual([
    [[kept, 'owner']],
    [
      [kept, 'collaborator'],
      [moved, 'owner'],
    ],
    [[moved, 'collaborator']],
  ]);
});
