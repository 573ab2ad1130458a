/**
 * The rows of a statement before and after it: all their columns, and `sign`, 1 for an added row and -1 for a removed
 * one.
 */
const changesBy = {
  insert: { rows: 'select *, 1 as sign from new_rows', tables: 'new table as new_rows' },
  update: {
    rows: 'select *, -1 as sign from old_rows union all select *, 1 as sign from new_rows',
    tables: 'old table as old_rows new table as new_rows',
  },
  delete: { rows: 'select *, -1 as sign from old_rows', tables: 'old table as old_rows' },
};

/**
 * Plans are generic, made once per connection without looking at the parameters: a custom plan costs more than it
 * gains, and its estimate for hundreds of rows is so high that PostgreSQL compiles the plan for 50 ms.
 */
export const options =
  'language plpgsql security definer set search_path = public set plan_cache_mode = force_generic_plan';

/** The transaction of an import sets this: it keeps what its rows have, and recomputes what is summed from logs once, at the end. */
export const whileImporting = `current_setting('app.imports', true) = 'on'`;

/**
 * Builds three triggers, for statements that insert, update and delete rows of a table. `body` is PL/pgSQL between
 * `begin` and `end`; it reads the changes as a subquery.
 */
export function onEachStatement(
  table: string,
  name: string,
  { declare = '', body }: { declare?: string; body: (changes: string, event: keyof typeof changesBy) => string },
): string[] {
  return (['insert', 'update', 'delete'] as const).flatMap((event) => {
    const { rows, tables } = changesBy[event];
    return [
      `create or replace function ${name}_on_${event}() returns trigger ${options} as $$
      ${declare}
      begin
        ${body(`(${rows})`, event)}
        return null;
      end $$`,
      `create or replace trigger ${name}_on_${event} after ${event} on ${table} referencing ${tables}
        for each statement execute function ${name}_on_${event}()`,
    ];
  });
}

/** Builds a trigger for single rows before they are stored: `body` may set columns of `new`. */
export const beforeEachRow = (
  table: string,
  name: string,
  { events, body }: { events: string; body: string },
): string[] => [
  `create or replace function ${name}() returns trigger ${options} as $$
    begin
      ${body}
      return new;
    end $$`,
  `create or replace trigger ${name} before ${events} on ${table} for each row execute function ${name}()`,
];

/** Builds a trigger for single rows: `when` names the events and the condition. */
export function onEachRow(
  table: string,
  name: string,
  { when, declare = '', body }: { when: { event: string; condition?: string }; declare?: string; body: string },
): string[] {
  const condition = when.condition === undefined ? '' : `when (${when.condition})`;
  return [
    `create or replace function ${name}() returns trigger ${options} as $$
    ${declare}
    begin
      ${body}
      return null;
    end $$`,
    `create or replace trigger ${name} after ${when.event} on ${table} for each row ${condition}
      execute function ${name}()`,
  ];
}
