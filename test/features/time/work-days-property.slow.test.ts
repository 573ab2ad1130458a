import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import type { Actor, Answer } from '../../support/actor.ts';
import { countMinutes, storedMinutes, listLogs } from '../../support/local-days.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

/*
 * Days of work against minutes counted one by one, around the moments at which clocks change and days begin:
 * New York and Berlin by an hour, Lord Howe by half of one, the Azores and Havana back over midnight, Cairo and Beirut
 * over it, St John's by a minute past it, and Apia by a whole day that there never was.
 */
const service = await startService();
const { db } = service.database;

const moments: Record<string, readonly string[]> = {
  UTC: ['2024-01-01T00:00Z'],
  'America/New_York': ['2024-03-10T07:00Z', '2024-11-03T06:00Z'],
  'Europe/Berlin': ['2024-03-31T01:00Z', '2024-10-27T01:00Z'],
  'Asia/Kathmandu': ['2024-05-01T18:15Z'],
  'Australia/Lord_Howe': ['2024-04-06T15:00Z', '2024-10-05T15:30Z'],
  'Pacific/Apia': ['2011-12-30T10:00Z', '2021-04-03T14:00Z'],
  'America/St_Johns': ['2010-11-07T02:31Z', '2024-03-10T05:30Z'],
  'Atlantic/Azores': ['2023-10-29T01:00Z', '2023-03-26T01:00Z'],
  'America/Havana': ['2022-11-06T05:00Z', '2023-03-12T05:00Z'],
  'Africa/Cairo': ['2024-04-25T22:00Z', '2024-10-31T21:00Z'],
  'Asia/Beirut': ['2024-03-30T22:00Z', '2024-10-26T21:00Z'],
};
const zones = Object.keys(moments);
const minuteMs = 60_000;

/** A log about one of the moments: it starts up to a day and a half before or after, or is cut at the moment. */
const spanAround = fc
  .record({
    moment: fc.constantFrom(...Object.values(moments).flat()),
    from: fc.oneof(fc.integer({ min: -2160, max: 2160 }), fc.constantFrom(-1440, -60, -30, -1, 0, 1, 30, 60)),
    lasts: fc.oneof(fc.integer({ min: 1, max: 1440 }), fc.constantFrom(1, 30, 60, 1440)),
  })
  .map(({ moment, from, lasts }) => {
    const start = Date.parse(moment) + from * minuteMs;
    return { start: new Date(start).toISOString(), end: new Date(start + lasts * minuteMs).toISOString() };
  });

/** People of the company whom nobody needs to sign in. */
async function addPeople(companyId: number, count: number): Promise<number[]> {
  const now = service.clock.now();
  const rows = [];
  for (let person = 0; person < count; person += 1) {
    const email = `clerk${companyId}.${person}@example.com`;
    const stamps = { created_at: now, updated_at: now };
    const { account_id } = await db
      .insertInto('accounts')
      .values({ email, ...stamps })
      .returning('account_id')
      .executeTakeFirstOrThrow();
    const names = { first_name: 'Ada', last_name: 'Clerk', search_text: ' ada clerk' };
    rows.push(
      await db
        .insertInto('employees')
        .values({ company_id: companyId, account_id, email, ...names, ...stamps })
        .returning('employee_id')
        .executeTakeFirstOrThrow(),
    );
  }
  return rows.map((row) => row.employee_id);
}

async function setZone(admin: Actor, timezone: string): Promise<void> {
  const { status } = await admin.put(`/company/${admin.companyId}/update/`, { timezone });
  expect(status).toBe(200);
}

/** The stored days equal the minutes of the stored logs, and all their sums agree. */
async function expectTruth({ companyId }: Actor, zone: string): Promise<void> {
  expect(await storedMinutes(db, companyId)).toEqual(countMinutes(await listLogs(db, companyId), zone));
  expect((await verifyTotals(db, companyId)).differences).toEqual([]);
}

describe('days of work', () => {
  test.each(zones)('are the minutes that the clocks of %s show, and change with the zone', async (zone) => {
    const admin = await service.registerCompany();
    const { taskId } = await startWork(admin);
    const others = await addPeople(admin.companyId, 6);
    await setZone(admin, zone);
    const near = spanAround.filter(({ start }) =>
      moments[zone]!.some((moment) => Math.abs(Date.parse(moment) - Date.parse(start)) <= 2160 * minuteMs),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(near, { minLength: 1, maxLength: 12 }), async (spans) => {
        const userId = others.pop() ?? admin.employeeId;
        const { status, body } = await admin.post(
          `/tasklogs/bulk/create/${userId}/`,
          spans.map(({ start, end }) => ({ taskId, userId, startTime: start, endTime: end })),
        );
        expect(status).toBe(200);
        const counted = countMinutes(await listLogs(db, admin.companyId), zone);
        for (const { date, workingHours } of body.days)
          expect([date, workingHours]).toEqual([
            date,
            Math.round(((counted[`${userId} ${date}`]?.working ?? 0) / 60) * 100) / 100,
          ]);
        expect(await storedMinutes(db, admin.companyId)).toEqual(counted);
      }),
      { numRuns: 5 },
    );
    await setZone(admin, zones[(zones.indexOf(zone) + 1) % zones.length]!);
    await expectTruth(admin, zones[(zones.indexOf(zone) + 1) % zones.length]!);
  });
});

type World = { admin: Actor; people: number[]; tasks: number[]; projects: number[]; logs: number[] };
type Step = (world: World) => Promise<Answer>;

const index = fc.nat({ max: 1000 });
const pick = <Item>(items: readonly Item[], at: number): Item => items[at % items.length]!;

const create = fc.record({ task: index, person: index, span: spanAround }).map(
  ({ task, person, span }): Step =>
    ({ admin, tasks, people }) =>
      admin.post('/tasklog/create/', {
        task_id: pick(tasks, task),
        employee_id: pick(people, person),
        start_time: span.start,
        end_time: span.end,
      }),
);
const createMany = fc
  .record({ person: index, entries: fc.array(fc.tuple(index, spanAround), { minLength: 1, maxLength: 6 }) })
  .map(({ person, entries }): Step => ({ admin, tasks, people }) => {
    const userId = pick(people, person);
    const body = entries.map(([task, { start, end }]) => ({
      taskId: pick(tasks, task),
      userId,
      startTime: start,
      endTime: end,
    }));
    return admin.post(`/tasklogs/bulk/create/${userId}/`, body);
  });
const update = fc
  .record({ log: index, task: fc.option(index), person: fc.option(index), span: fc.option(spanAround) })
  .map(
    ({ log, task, person, span }): Step =>
      ({ admin, logs, tasks, people }) =>
        admin.put(`/tasklogs/${pick([...logs, 999_999], log)}/`, {
          ...(task === null ? {} : { taskId: pick(tasks, task) }),
          ...(person === null ? {} : { userId: pick(people, person) }),
          ...(span === null ? {} : { startTime: span.start, endTime: span.end }),
        }),
  );
const remove = index.map(
  (log): Step =>
    ({ admin, logs }) =>
      admin.delete(`/api/tasklogs/delete/${pick([...logs, 999_999], log)}/`),
);
const moveTask = fc.record({ task: index, project: index }).map(
  ({ task, project }): Step =>
    ({ admin, tasks, projects }) =>
      admin.patch(`/api/tasks/${pick(tasks, task)}/`, { projectId: pick(projects, project) }),
);
const changeZone = index.map(
  (zone): Step =>
    ({ admin }) =>
      admin.put(`/company/${admin.companyId}/update/`, { timezone: pick(zones, zone) }),
);

/** How many steps are taken at once. */
const atOnce = 5;

test('whatever happens to logs, at once and in any order, days are the minutes of the logs that are there', async () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: create },
      { weight: 3, arbitrary: createMany },
      { weight: 4, arbitrary: update },
      { weight: 2, arbitrary: remove },
      { weight: 1, arbitrary: moveTask },
      { weight: 1, arbitrary: changeZone },
    ),
    { minLength: 10, maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const admin = await service.registerCompany();
      const [first, second] = [await startWork(admin), await startWork(admin)];
      const world: World = {
        admin,
        people: [admin.employeeId, ...(await addPeople(admin.companyId, 2))],
        projects: [first.projectId, second.projectId],
        tasks: [first.taskId, second.taskId, await addTask(admin, first.projectId)],
        logs: [],
      };
      for (let from = 0; from < steps.length; from += atOnce) {
        const answers = await Promise.all(steps.slice(from, from + atOnce).map((step) => step(world)));
        for (const { status, body } of answers) {
          // Refused are logs that are gone, that start as another one does, and halves of a move that do not fit.
          expect([200, 404, 409]).toContain(status);
          if (status !== 200) continue;
          if (body.created) world.logs.push(...body.created.map(({ _id }: { _id: number }) => _id));
          else if ('durationSeconds' in body) world.logs.push(body._id);
        }
      }
      const { body } = await admin.get(`/company/${admin.companyId}/details/`);
      await expectTruth(admin, body.company.timezone);
    }),
    // The embedded database runs one statement at a time, so only a server shows what steps at once do to each other.
    { numRuns: inject('template').kind === 'server' ? 8 : 4 },
  );
}, 60_000);
