import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { archiveFormat, archiveVersion, type Manifest } from '../../server/features/exports/archive.ts';
import type { Table } from '../../db/catalogue.ts';

/** How large a company is. Each task has a comment, and takes so many logs that all are of tasks. */
export type Size = { people: number; projects: number; tasks: number; logs: number };

export const ownerEmail = 'owner@bench.example';
const at = '2026-01-05T08:00:00+00:00';

/** Writes the export of a company that never was. */
export async function writeCompany(file: string, size: Size): Promise<void> {
  const zip = new ZipFile();
  const tables: Manifest['tables'] = [];
  for (const [table, rows] of Object.entries(rowsOf(size)) as [Table, () => Iterable<object>][])
    zip.addReadStreamLazy(`${table}.jsonl`, { compressionLevel: 1 }, (open) => {
      open(null, Readable.from(described(table, rows()), { objectMode: false }));
    });
  zip.addReadStreamLazy('manifest.json', (open) => {
    const company = { id: 1, name: 'Bench' };
    const manifest = { format: archiveFormat, version: archiveVersion, exportedAt: '2026-01-05T08:00:00Z', company };
    open(null, Readable.from([JSON.stringify({ ...manifest, employee: null, tables })]));
  });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file));

  function* described(table: Table, rows: Iterable<object>): Generator<Buffer> {
    const hash = createHash('sha256');
    let count = 0;
    let columns: string[] = [];
    let lines: string[] = [];
    const take = (): Buffer => {
      const piece = Buffer.from(lines.join(''));
      hash.update(piece);
      lines = [];
      return piece;
    };
    for (const row of rows) {
      if (count === 0) columns = Object.keys(row);
      count += 1;
      if (lines.push(`${JSON.stringify(row)}\n`) === 1_000) yield take();
    }
    yield take();
    tables.push({ name: table, columns, rows: count, sha256: hash.digest('hex') });
  }
}

function* times<Row>(count: number, row: (n: number) => Row): Generator<Row> {
  for (let n = 1; n <= count; n += 1) yield row(n);
}

const hourMs = 3_600_000;
const firstDay = Date.parse('2025-01-01T00:00:00Z');
const logsPerDay = 5;

const rowsOf = ({ people, projects, tasks, logs }: Size) => ({
  companies: () =>
    times(1, () => ({
      name: 'Bench',
      timezone: 'Europe/Berlin',
      owner_id: 1,
      referral_code: null,
      created_at: at,
      updated_at: at,
    })),
  employees: () =>
    times(people, (n) => ({
      employee_id: n,
      email: n === 1 ? ownerEmail : `person${n}@bench.example`,
      first_name: 'Person',
      last_name: String(n),
      own_name: null,
      phone: null,
      designation: null,
      salary: null,
      is_admin: n === 1,
      is_team_leader: false,
      is_active: true,
      is_deleted: false,
      date_of_birth: null,
      date_of_joining: null,
      gender: null,
      country_code: null,
      picture_id: null,
      created_at: at,
      updated_at: at,
    })),
  projects: () =>
    times(projects, (n) => ({
      project_id: n,
      name: `Project ${n}`,
      description: null,
      owner_id: 1,
      allocated_hours: null,
      status: 'active',
      created_at: at,
      updated_at: at,
      deleted_at: null,
      billable: true,
      budget_minor_units: null,
      budget_currency: null,
    })),
  tasks: () =>
    times(tasks, (n) => ({
      task_id: n,
      project_id: 1 + (n % projects),
      title: `Task ${n}`,
      description: 'What has to be done, and by when.',
      status: 'in_progress',
      owner_id: 1 + (n % people),
      due_date: null,
      estimated_hours: 4.5,
      completed_at: null,
      created_at: at,
      updated_at: at,
      deleted_at: null,
    })),
  task_logs: () =>
    times(logs, (n) => {
      const task = 1 + (n % tasks);
      const nth = Math.floor((n - 1) / people);
      const start = firstDay + Math.floor(nth / logsPerDay) * 24 * hourMs + (8 + (nth % logsPerDay)) * hourMs;
      return {
        task_log_id: n,
        task_id: task,
        employee_id: 1 + ((n - 1) % people),
        project_id: 1 + (task % projects),
        start_time: new Date(start).toISOString(),
        end_time: new Date(start + hourMs - 1_000 * (n % 600)).toISOString(),
        description: 'Cutting gears',
        manual_add: true,
        created_at: at,
        updated_at: at,
        billable: true,
        rate_minor_units: null,
        currency: null,
      };
    }),
  comments: () =>
    times(tasks, (n) => ({
      comment_id: n,
      task_id: n,
      sender_id: 1 + (n % people),
      client_sender: null,
      message: '<p>Done, and ready for review</p>',
      mentioned_emails: [],
      reply_to: null,
      image: null,
      is_edited: false,
      is_deleted: false,
      created_at: at,
      edited_at: null,
    })),
});
