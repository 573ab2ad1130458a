import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { countMinutes, listLogs } from '../../support/local-days.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/*
 * Which days a log locks and is locked by, against minutes that are counted one by one, in the weeks in which clocks change:
 * Berlin by an hour, Lord Howe by half of one, Havana back over midnight.
 */

const service = await startService();
const { db } = service.database;
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;

/** Time zones, and the Mondays of such weeks. */
const weeks: [zone: string, monday: string][] = [
  ['Europe/Berlin', '2024-03-25'],
  ['Europe/Berlin', '2024-10-21'],
  ['Australia/Lord_Howe', '2024-04-01'],
  ['Australia/Lord_Howe', '2024-09-30'],
  ['America/Havana', '2024-03-04'],
  ['America/Havana', '2022-10-31'],
];

/** A log from a day before the week to a day behind it, often at one of its edges. */
const span = fc.record({
  from: fc.oneof(
    fc.integer({ min: -1440, max: 8 * 1440 }),
    fc.constantFrom(-60, -1, 0, 1, 60).chain((by) => fc.constantFrom(0, 6 * 1440, 7 * 1440).map((edge) => edge + by)),
  ),
  lasts: fc.oneof(fc.integer({ min: 1, max: 1440 }), fc.constantFrom(1, 60, 1440)),
});

test.each(weeks)('in %s, logs with a minute in the week of %s are refused, and no others', async (zone, monday) => {
  const admin = await service.registerCompany();
  const { companyId, employeeId } = admin;
  const { projectId, taskId } = await startWork(admin);
  await admin.put(`/company/${companyId}/update/`, { timezone: zone });
  const sunday = new Date(Date.parse(monday) + 6 * dayMs).toISOString().slice(0, 10);
  // Somewhere near the local midnight: what a minute belongs to is counted, not computed.
  const offset = zone === 'America/Havana' ? 5 * 60 : zone === 'Europe/Berlin' ? -60 : -11 * 60;
  const momentOf = (minutes: number) => new Date(Date.parse(monday) + (minutes + offset) * minuteMs);
  const log = ({ from, lasts }: { from: number; lasts: number }) =>
    admin.post('/tasklog/create/', {
      task_id: taskId,
      employee_id: employeeId,
      start_time: momentOf(from).toISOString(),
      end_time: momentOf(from + lasts).toISOString(),
    });
  const isInWeek = (key: string) => {
    const day = key.split(' ')[1]!;
    return day >= monday && day <= sunday;
  };

  await fc.assert(
    fc.asyncProperty(
      fc.array(span, { minLength: 4, maxLength: 8 }),
      fc.array(span, { minLength: 6, maxLength: 12 }),
      async (before, after) => {
        await db.deleteFrom('timesheet_periods').where('company_id', '=', companyId).execute();
        await db.deleteFrom('task_logs').where('company_id', '=', companyId).execute();
        for (const one of before) expect([200, 409]).toContain((await log(one)).status);
        const submitted = await admin.post('/api/timesheet-periods/submit/', {
          employee_id: employeeId,
          period_start: monday,
        });
        const counted = countMinutes(await listLogs(db, companyId), zone);
        const expected = Object.entries(counted)
          .filter(([key]) => isInWeek(key))
          .map(([key, { logged }]) => ({ date: key.split(' ')[1]!, projectId, seconds: logged * 60 }))
          .toSorted((a, b) => a.date.localeCompare(b.date));
        expect(submitted.body.snapshot).toEqual(expected);

        for (const one of after) {
          const times = { start_time: momentOf(one.from), end_time: momentOf(one.from + one.lasts) };
          const days = Object.keys(countMinutes([{ employee_id: employeeId, ...times }], zone)).filter(isInWeek);
          const { status, body } = await log(one);
          // A log that starts as another one does is refused for that.
          if (body.code === 'DUPLICATE_TASK_LOG') continue;
          const issues = (body.issues ?? []) as { message: string }[];
          expect({ status, messages: issues.map(({ message }) => message) }).toEqual({
            status: days.length === 0 ? 200 : 409,
            messages: days.map((key) => `${key.split(' ')[1]} is locked`).toSorted(),
          });
        }
      },
    ),
    // For each of six weeks; with a server a round costs a fraction.
    { numRuns: inject('template').kind === 'server' ? 8 : 4 },
  );
});
