import { sql, type Kysely } from 'kysely';

/**
 * Time by local day. `logged_seconds` is the sum of the logs' parts of a day, `working_seconds` their union: no minute
 * counts twice. What is kept here was counted when the time was logged, so figures cost the same however many logs there are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The moment at which the calendar of a time zone first shows a day: days follow each other without a gap, whatever
  // clocks do. Where midnight is left out, the day begins after the leap; a day that is left out begins and ends in one moment.
  await sql`
    create function local_day_start(day date, zone text) returns timestamptz
    language plpgsql stable strict parallel safe as $$
    declare
      midnight constant timestamptz := day::timestamp at time zone zone;
      put_back constant interval :=
        (midnight - interval '12 hours') at time zone zone + interval '12 hours' - day::timestamp;
    begin
      -- Where clocks go back over midnight it strikes twice, and the conversion above answers the second.
      if put_back > interval '0' and (midnight - put_back) at time zone zone = day::timestamp then
        return midnight - put_back;
      end if;
      return midnight;
    end
    $$`.execute(db);
  // Not always what the clocks show: put back from one minute past midnight, they return to a day that is over.
  await sql`
    create function local_day(moment timestamptz, zone text) returns date
    language plpgsql stable strict parallel safe as $$
    declare
      shown constant date := (moment at time zone zone)::date;
    begin
      return case when moment >= local_day_start(shown + 1, zone) then shown + 1 else shown end;
    end
    $$`.execute(db);

  // Days look for logs that began at most this much before them.
  await sql`
    alter table task_logs add constraint task_logs_at_most_a_day check (end_time - start_time <= interval '24 hours')`.execute(
    db,
  );

  await sql`alter table work_days add column logged_seconds bigint not null default 0`.execute(db);
  await sql`alter table work_days alter column logged_seconds drop default`.execute(db);
  await sql`
    create table work_totals (
      company_id bigint not null,
      employee_id bigint not null,
      logged_seconds bigint not null,
      working_seconds bigint not null,
      primary key (company_id, employee_id),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
  await sql`
    create table company_days (
      company_id bigint not null references companies on delete cascade,
      day date not null,
      logged_seconds bigint not null,
      primary key (company_id, day)
    )`.execute(db);

  await countStoredLogs(db);
}

async function countStoredLogs(db: Kysely<unknown>): Promise<void> {
  // Rounded from the log's start on, so that the parts of a log add up to its duration.
  await sql`
    insert into work_days (company_id, employee_id, day, working_seconds, logged_seconds)
    select company_id, employee_id, day,
      round(extract(epoch from sum(part_end - greatest(part_start, least(part_end, coalesce(covered_until, part_start)))))),
      sum(
        extract(epoch from part_end - start_time)::integer - extract(epoch from part_start - start_time)::integer
      )
    from (
      select company_id, employee_id, day, start_time, part_start, part_end,
        max(part_end) over (
          partition by company_id, employee_id, day order by part_start, part_end
          rows between unbounded preceding and 1 preceding
        ) as covered_until
      from (
        select l.company_id, l.employee_id, d.day, l.start_time,
          greatest(l.start_time, d.day_start) as part_start, least(l.end_time, d.day_end) as part_end
        from task_logs as l
        join companies as c on c.company_id = l.company_id
        cross join lateral (
          select day, local_day_start(day, c.timezone) as day_start, local_day_start(day + 1, c.timezone) as day_end
          from (
            select (l.start_time at time zone c.timezone)::date + n as day
            from generate_series(0, (l.end_time at time zone c.timezone)::date - (l.start_time at time zone c.timezone)::date + 1) as n
          ) as shown
        ) as d
        where l.start_time < d.day_end and l.end_time > d.day_start
      ) as parts
    ) as covered
    group by company_id, employee_id, day`.execute(db);
  await sql`
    insert into work_totals (company_id, employee_id, logged_seconds, working_seconds)
    select company_id, employee_id, sum(logged_seconds), sum(working_seconds)
    from work_days group by company_id, employee_id`.execute(db);
  await sql`
    insert into company_days (company_id, day, logged_seconds)
    select company_id, day, sum(logged_seconds) from work_days group by company_id, day`.execute(db);
}
