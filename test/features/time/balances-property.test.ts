import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Actor, Answer } from '../../support/actor.ts';
import { dayAfter, fullWeek, getBalance, setHolidays, setHours } from '../../support/hours.ts';
import { countMinutes, type Log } from '../../support/local-days.ts';
import { setPolicy } from '../../support/periods.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/*
 * Whatever happens to logs, working hours, holidays, the policy and the time zone, balances are those of a recount: minutes are
 * counted one by one, and what is expected is found by a model in a few lines. Clocks change in Berlin by an hour, on Lord Howe
 * by half of one, and in Havana back over midnight.
 */

const service = await startService();
const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Havana'];
/** Around the changes of the clocks in the autumn of 2022, which is spring on Lord Howe. */
const [from, to] = ['2022-09-26', '2022-11-13'];
const changes = ['2022-10-02', '2022-10-30', '2022-11-06'];
const minuteMs = 60_000;

type World = {
  admin: Actor;
  taskId: number;
  zone: string;
  policy: number[];
  people: { id: number; joined: string | null; entries: Map<string, number[]> }[];
  holidays: Map<string, string>;
  logs: Map<number, Log>;
};
type Step = (world: World) => Promise<void>;

function demandOk({ status, body }: Answer): void {
  if (status !== 200) throw new Error(`a step failed: ${JSON.stringify(body)}`);
}
const pick = <Item>(items: Iterable<Item>, at: number): Item => {
  const list = [...items];
  return list[at % list.length]!;
};
const index = fc.nat({ max: 1000 });
const minutes = fc.array(fc.constantFrom(0, 1, 90, 240, 480, 1440), { minLength: 7, maxLength: 7 });
const day = fc.oneof(
  fc.integer({ min: -3, max: 50 }).map((days) => dayAfter(from, days)),
  fc.constantFrom(...changes),
);

const log = fc
  .record({
    person: index,
    on: fc.constantFrom(...changes),
    at: fc.integer({ min: -2000, max: 2500 }),
    lasts: fc.oneof(fc.integer({ min: 1, max: 1440 }), fc.integer({ min: 1, max: 90 })),
  })
  .map(({ person, on, at, lasts }): Step => async ({ admin, taskId, people, logs }) => {
    const start = new Date(Date.parse(on) + at * minuteMs);
    const times = { start_time: start, end_time: new Date(start.getTime() + lasts * minuteMs) };
    const employee_id = pick(people, person).id;
    const answer = await admin.post('/tasklog/create/', { task_id: taskId, employee_id, ...times });
    // Another log begins then.
    if (answer.status === 409) return;
    demandOk(answer);
    logs.set(answer.body._id, { employee_id, ...times });
  });
const removeLog = index.map((at): Step => async ({ admin, logs }) => {
  if (logs.size === 0) return;
  const [id] = pick(logs, at);
  demandOk(await admin.delete(`/api/tasklogs/delete/${id}/`));
  logs.delete(id);
});
const setEntry = fc
  .record({ person: index, day, minutes: fc.option(minutes, { freq: 4 }) })
  .map((entry): Step => async ({ admin, people }) => {
    const { id, entries } = pick(people, entry.person);
    demandOk(await setHours(admin, id, entry.day, entry.minutes));
    if (entry.minutes === null) entries.delete(entry.day);
    else entries.set(entry.day, entry.minutes);
  });
const setDays = fc
  .record({ first: day, days: fc.integer({ min: 0, max: 9 }), which: fc.uniqueArray(fc.nat({ max: 9 })) })
  .map(({ first, days, which }): Step => async ({ admin, holidays }) => {
    const last = dayAfter(first, days);
    const dates = which.filter((nth) => nth <= days).map((nth) => dayAfter(first, nth));
    const given = dates.map((date) => ({ date, name: `Holiday of ${date}` }));
    demandOk(await setHolidays(admin, first, last, given));
    for (const date of holidays.keys()) if (date >= first && date <= last) holidays.delete(date);
    for (const { date, name } of given) holidays.set(date, name);
  });
const setExpected = minutes.map((expectedMinutes): Step => async (world) => {
  demandOk(await setPolicy(world.admin, { expectedMinutes }));
  world.policy = expectedMinutes;
});
const join = fc
  .record({ person: index, on: fc.option(day) })
  .map(({ person, on }): Step => async ({ admin, people }) => {
    const one = pick(people, person);
    demandOk(await admin.patch(`/api/employees/${one.id}/`, { date_of_joining: on }));
    one.joined = on;
  });
const setZone = fc.constantFrom(...zones).map((zone): Step => async (world) => {
  demandOk(await world.admin.put(`/company/${world.admin.companyId}/update/`, { timezone: zone }));
  world.zone = zone;
});

function expectedSeconds({ policy, holidays }: World, { joined, entries }: World['people'][number], date: string) {
  if (holidays.has(date) || (joined !== null && date < joined)) return 0;
  let week = policy;
  for (const validFrom of [...entries.keys()].toSorted((a, b) => a.localeCompare(b)))
    if (validFrom <= date) week = entries.get(validFrom)!;
  return week[(new Date(date).getUTCDay() + 6) % 7]! * 60;
}

function listDays(range: { from: string; to: string }): string[] {
  const days: string[] = [];
  for (let date = range.from; date <= range.to; date = dayAfter(date, 1)) days.push(date);
  return days;
}

/** The balance of a range, counted again. */
function recount(world: World, person: World['people'][number], range: { from: string; to: string }) {
  const counted = countMinutes([...world.logs.values()], world.zone);
  const days = listDays(range).map((date) => ({
    date,
    ...differenceOf(expectedSeconds(world, person, date), (counted[`${person.id} ${date}`]?.working ?? 0) * 60),
    holiday: world.holidays.get(date) ?? null,
  }));
  const sum = (field: 'expectedSeconds' | 'workingSeconds') => days.reduce((total, one) => total + one[field], 0);
  const sums = differenceOf(sum('expectedSeconds'), sum('workingSeconds'));
  return { employee_id: person.id, ...range, ...sums, days };
}
const differenceOf = (expected: number, working: number) => ({
  expectedSeconds: expected,
  workingSeconds: working,
  differenceSeconds: working - expected,
});

test('balances are those of a recount, to the second', async () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: log },
      { weight: 1, arbitrary: removeLog },
      { weight: 4, arbitrary: setEntry },
      { weight: 2, arbitrary: setDays },
      { weight: 1, arbitrary: setExpected },
      { weight: 1, arbitrary: join },
      { weight: 1, arbitrary: setZone },
    ),
    { minLength: 15, maxLength: 40 },
  );
  const ranges = fc.array(
    fc
      .record({ first: day, days: fc.nat({ max: 20 }) })
      .map(({ first, days }) => ({ from: first, to: dayAfter(first, days) })),
    { minLength: 2, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...zones), steps, ranges, async (zone, history, asked) => {
      const admin = await service.registerCompany();
      const grace = await service.addEmployee(admin);
      demandOk(await admin.put(`/company/${admin.companyId}/update/`, { timezone: zone }));
      const world: World = {
        admin,
        zone,
        taskId: (await startWork(admin)).taskId,
        policy: fullWeek,
        people: [admin, grace].map(({ employeeId }) => ({ id: employeeId, joined: null, entries: new Map() })),
        holidays: new Map(),
        logs: new Map(),
      };
      for (const step of history) await step(world);
      for (const person of world.people)
        for (const range of [{ from, to }, ...asked]) {
          const { body } = await getBalance(admin, range.from, range.to, person.id);
          expect(body).toEqual(recount(world, person, range));
        }
    }),
    { numRuns: 5 },
  );
}, 120_000);
