import type { Db } from '../../../db/open.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { nobody, writeEntry, type Origin } from '../../kernel/audit-log.ts';
import { Download } from '../../kernel/wire/download.ts';
import type { Link } from './links.ts';
import { selectExports } from './queries.ts';

/** A finished file, and how long it is. */
export type ExportFile = { download: Download; bytes: number };

type Taking = { now: Date; origin: Omit<Origin, 'operation'>; isHead: boolean };

/**
 * The file that a link leads to, while the admin who asked for it is one. That it is taken is a row of the audit log; a
 * HEAD request takes none.
 */
export async function takeFile(
  db: Db,
  { companyId, exportId }: Link,
  { now, origin, isHead }: Taking,
): Promise<ExportFile | undefined> {
  const row = await selectExports(db, companyId, now)
    .innerJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 'exports.company_id').onRef('e.employee_id', '=', 'exports.requested_by_id'),
    )
    .where('exports.export_id', '=', exportId)
    .where('e.is_admin', '=', true)
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
    .select(['exports.employee_id', 'exports.created_at', 'run', 'byte_count'])
    .executeTakeFirst();
  if (!row || row.run === null) return undefined;
  if (!isHead) {
    const subject = { kind: 'export', id: exportId };
    const change = { event: 'file.exported', ...subject, before: null, after: { userId: row.employee_id } };
    await writeEntry(db, { ...nobody, companyId, ...origin, operation: 'exports.take', subject, changes: [change] });
  }
  const whose = row.employee_id === null ? `company-${companyId}` : `person-${row.employee_id}`;
  const filename = `export-${whose}-${row.created_at.toISOString().slice(0, 10)}.zip`;
  const bytes = row.byte_count!;
  const body = partsOf(db, { companyId, exportId, run: row.run, bytes });
  return { download: new Download({ format: 'zip', filename, body }), bytes };
}

type StoredFile = Link & { run: string; bytes: number };

/** The parts one after another, so that no connection waits for the reader. They may be deleted before all are read. */
async function* partsOf(db: Db, { companyId, exportId, run, bytes }: StoredFile): AsyncGenerator<Buffer> {
  for (let part = 0, left = bytes; left > 0; part += 1) {
    const row = await db
      .selectFrom('export_parts')
      .where('company_id', '=', companyId)
      .where('export_id', '=', exportId)
      .where('run', '=', run)
      .where('part', '=', part)
      .select('content')
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    yield row.content;
    left -= row.content.length;
  }
}
