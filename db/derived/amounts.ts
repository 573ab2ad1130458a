import { sql } from 'kysely';
import { beforeEachRow, onEachRow, onEachStatement, whileImporting } from './triggers.ts';

/*
 * Money: a log is stored with the hourly rate of its task, project, employee and day, and a project with what its logs amount
 * to (`project_amounts`). Invariants:
 *
 * - The rate of a log is found when it is stored, and again only when its task, project, employee, day or `billable` changes.
 *   Nothing else changes it but the operation that applies rates to stored logs.
 * - The log of an imported company keeps the rate that it had.
 * - The day is that of the start of the log in the time zone which the company has then.
 * - Amounts are whole minor units of a currency: the seconds of the log by its rate, rounded once, half up. A part of a log
 *   amounts to the difference of what it has cost until the end and until the start of the part, so parts add up.
 */

/** What so many seconds (integer) at an hourly rate (bigint) amount to. */
export const amountOf = (seconds: string, rate: string): string => `((${seconds})::bigint * ${rate} + 1800) / 3600`;

/** The subject of a rate, as it stands in the unique index of `rates`. */
const levels = ({ task, project, employee }: Log): string => `(values
  (1, ${task}, 0, 0), (2, 0, ${project}, ${employee}), (3, 0, ${project}, 0), (4, 0, 0, ${employee}), (5, 0, 0, 0)
) as level (place, task_id, project_id, employee_id)`;

type Log = { company: string; task: string; project: string; employee: string; day: string };

/** A subquery of the rate (minor_units, currency) of a log on a day: the most specific one; no row without one. */
export const rateOf = (log: Log): string => `(
  select valid.minor_units, valid.currency
  from ${levels(log)}
  cross join lateral (
    select r.minor_units, r.currency from rates as r
    where r.company_id = ${log.company} and coalesce(r.task_id, 0) = level.task_id
      and coalesce(r.project_id, 0) = level.project_id and coalesce(r.employee_id, 0) = level.employee_id
      and r.valid_from <= ${log.day}
    order by r.valid_from desc limit 1
  ) as valid
  where valid.minor_units is not null
  order by level.place limit 1
)`;

const ofNewLog = rateOf({
  company: 'new.company_id',
  task: 'new.task_id',
  project: 'new.project_id',
  employee: 'new.employee_id',
  day: 'local_day(new.start_time, c.timezone)',
});

const sameSubject = `(new.task_id, new.project_id, new.employee_id, new.billable)
        = (old.task_id, old.project_id, old.employee_id, old.billable)`;

const rates = beforeEachRow('task_logs', 'rate_task_log', {
  events: 'insert or update of task_id, project_id, employee_id, start_time, billable',
  body: `
      if ${whileImporting} then return new; end if;
      if tg_op = 'UPDATE' then
        if ${sameSubject} and exists (
          select from companies as c where c.company_id = new.company_id
            and local_day(new.start_time, c.timezone) = local_day(old.start_time, c.timezone)
        ) then
          return new;
        end if;
      end if;
      new.rate_minor_units := null;
      new.currency := null;
      -- First, because most companies have no rates.
      if new.billable and exists (select from rates where company_id = new.company_id) then
        select r.minor_units, r.currency into new.rate_minor_units, new.currency
        from companies as c cross join lateral ${ofNewLog} as r where c.company_id = new.company_id;
      end if;`,
});

const amountOfLog = amountOf('duration_seconds', 'rate_minor_units');

/**
 * The budget of a project stays while what it is compared with changes. New and deleted logs have changed the time of their
 * projects already, so only an update may have locked none.
 */
const lockProjects = (changes: string): string => `
    perform from projects as p
    where (p.company_id, p.project_id) in (select company_id, project_id from ${changes} as c where currency is not null)
    order by p.company_id, p.project_id for no key update;`;

// Named so that it fires after the trigger of work time, which locks the days of employees first.
const ofLogs = onEachStatement('task_logs', 'total_project_amounts', {
  body: (changes, event) => `
    if not exists (select from ${changes} as c where currency is not null) then return null; end if;
    ${event === 'update' ? lockProjects(changes) : ''}
    insert into project_amounts as a (company_id, project_id, currency, minor_units)
    select company_id, project_id, currency, sum(sign * (${amountOfLog}))
    from ${changes} as c where currency is not null
    group by company_id, project_id, currency having sum(sign * (${amountOfLog})) <> 0
    order by company_id, project_id, currency
    on conflict (company_id, project_id, currency) do update set minor_units = a.minor_units + excluded.minor_units;`,
});

/**
 * The share of a limit that is used, as the alerts count it: 50 and 80 are reached, 100 is exceeded. Both are numbers of one
 * unit.
 */
const shareOf = (used: string, limit: string): string => `(case
  when ${limit} is null or ${used} <= 0 then 0
  when ${used} > ${limit} then 100
  when ${used} * 100 >= ${limit} * 80 then 80
  when ${used} * 100 >= ${limit} * 50 then 50
  else 0 end)`;

/** Appends a job of server/features/task-logs/jobs.ts. */
const appendJob = ({
  measure,
  percent,
  used,
  limit,
  currency,
}: Record<'measure' | 'percent' | 'used' | 'limit' | 'currency', string>): string => `
    insert into jobs (handler, queue, dedupe_key, payload, due_at, created_at)
    values (
      'project-share-reached', 'database', 'project-share-reached ' || crossing,
      jsonb_build_object(
        'companyId', new.company_id, 'projectId', new.project_id, 'crossing', crossing, 'measure', '${measure}',
        'percent', ${percent}, 'used', ${used}, 'limit', ${limit}, 'currency', ${currency}
      ),
      statement_timestamp(), statement_timestamp()
    );`;

const declareCrossing = 'declare crossing constant text := gen_random_uuid();';

const hoursShare = (row: string): string => shareOf(`${row}.logged_seconds`, `${row}.allocated_hours * 3600`);

/** Of the allocated hours more than all are told of by work-time.ts. */
const ofHours = onEachRow('projects', 'project_reaches_share_of_hours', {
  // A short condition: PostgreSQL reads its text again for each statement, and with the shares in it an update took nearly twice as long.
  when: {
    event: 'update',
    condition: 'new.allocated_hours is not null and new.deleted_at is null and not new.is_exceeded',
  },
  declare: declareCrossing,
  body: `
      if ${hoursShare('new')} > ${hoursShare('old')} then
        ${appendJob({
          measure: 'hours',
          percent: hoursShare('new'),
          used: 'round(new.logged_seconds / 3600.0, 2)',
          limit: 'new.allocated_hours',
          currency: 'null',
        })}
      end if;`,
});

const ofAmounts = onEachRow('project_amounts', 'project_reaches_share_of_budget', {
  when: { event: 'insert or update' },
  declare: `${declareCrossing}
      budget bigint;
      used_before constant bigint := case when tg_op = 'UPDATE' then old.minor_units else 0 end;`,
  body: `
      select p.budget_minor_units into budget from projects as p
      where p.company_id = new.company_id and p.project_id = new.project_id
        and p.budget_currency = new.currency and p.deleted_at is null;
      if ${shareOf('new.minor_units', 'budget')} > ${shareOf('used_before', 'budget')} then
        ${appendJob({
          measure: 'money',
          percent: shareOf('new.minor_units', 'budget'),
          used: 'new.minor_units',
          limit: 'budget',
          currency: 'new.currency',
        })}
      end if;`,
});

const spent = (row: string): string => `(
          select a.minor_units from project_amounts as a
          where a.company_id = new.company_id and a.project_id = new.project_id and a.currency = ${row}.budget_currency
        )`;

const ofBudgets = onEachRow('projects', 'project_budget_reaches_share', {
  when: {
    event: 'update of budget_minor_units, budget_currency',
    condition: `new.deleted_at is null and (new.budget_minor_units, new.budget_currency)
      is distinct from (old.budget_minor_units, old.budget_currency)`,
  },
  declare: `${declareCrossing}
      used constant bigint := coalesce(${spent('new')}, 0);
      used_before constant bigint := coalesce(${spent('old')}, 0);`,
  body: `
      if ${shareOf('used', 'new.budget_minor_units')} > ${shareOf('used_before', 'old.budget_minor_units')} then
        ${appendJob({
          measure: 'money',
          percent: shareOf('used', 'new.budget_minor_units'),
          used: 'used',
          limit: 'new.budget_minor_units',
          currency: 'new.budget_currency',
        })}
      end if;`,
});

export const amounts = [...rates, ...ofLogs, ...ofHours, ...ofAmounts, ...ofBudgets];

/** What the logs of the projects of a company amount to: (project_id, currency, minor_units). */
export const countedAmounts = (companyId: number) => sql`
  select project_id, currency, sum(${sql.raw(amountOfLog)})::bigint as minor_units
  from task_logs where company_id = ${companyId} and currency is not null group by project_id, currency`;
