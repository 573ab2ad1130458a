import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/* Triggers keep derived data (db/derived). An operation that wrote it as well would count twice. */

const tables = [
  'work_days',
  'work_totals',
  'company_days',
  'company_day_shards',
  'task_counts',
  'company_counts',
  'comment_counts',
  'notification_counts',
  'notification_tallies',
];

/** What may be written all the same, and why. */
const allowed: Record<string, string> = {
  'server/features/employees/queries.ts':
    'makes the row of a new employee, which is locked to change their notifications',
  'server/features/exports/import-company.ts': 'makes the same rows of imported employees',
  'server/features/notifications/notify.ts': 'locks the row, and notes the time of the last notification',
};

const root = new URL('../../', import.meta.url);
const writes = new RegExp(
  `(?:insert into|update|delete from|insertInto\\('|updateTable\\('|deleteFrom\\(')\\s*(?:${tables.join('|')})\\b|\\bset\\b[^;]*?\\blogged_seconds\\s*[:=]`,
  'i',
);

const files = globSync('server/**/*.ts', { cwd: root });

test('no file of the service writes a derived table', () => {
  const found = files.filter((file) => writes.test(readFileSync(new URL(file, root), 'utf8')));
  expect(found.toSorted()).toEqual(Object.keys(allowed));
});

test.each([
  "await db.updateTable('task_counts').set({ todo: 1 })",
  'sql`insert into work_days (company_id)`',
  'set({ logged_seconds: 0 })',
])('%s would be found', (text) => {
  expect(writes.test(text)).toBe(true);
});
