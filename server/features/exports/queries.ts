import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import type { Settings } from '../../kernel/context.ts';
import type { Tokens } from '../../platform/tokens.ts';
import { linkOf } from './links.ts';
import type { Export } from './schemas.ts';

export const exportColumns = [
  'company_id',
  'export_id',
  'employee_id',
  'requested_by_id',
  'rows_total',
  'rows_done',
  'byte_count',
  'sha256',
  'created_at',
  'started_at',
  'finished_at',
  'expires_at',
] as const;
export type ExportRow = Pick<Selectable<Schema['exports']>, (typeof exportColumns)[number]>;

/** The exports of a company that have not expired. */
export const selectExports = (db: Db, companyId: number, now: Date) =>
  db.selectFrom('exports').where('exports.company_id', '=', companyId).where('exports.expires_at', '>', now);

type Services = { settings: Settings; tokens: Tokens };

export function toExport(row: ExportRow, { settings, tokens }: Services): z.input<typeof Export> {
  const isFinished = row.finished_at !== null;
  return {
    _id: row.export_id,
    companyId: row.company_id,
    userId: row.employee_id,
    requestedById: row.requested_by_id,
    state: isFinished ? 'finished' : row.started_at === null ? 'waiting' : 'running',
    rowsDone: row.rows_done,
    rowsTotal: row.rows_total,
    bytes: row.byte_count,
    sha256: row.sha256,
    url: isFinished ? `${settings.publicUrl}/exports/${linkOf(tokens, row)}` : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    expiresAt: row.expires_at,
  };
}

/** Notes for the audit log that an export was asked for or deleted. */
export function noteExport(db: Db, verb: 'created' | 'deleted', row: ExportRow): void {
  const shown = { userId: row.employee_id };
  const [before, after] = verb === 'created' ? [null, shown] : [shown, null];
  noteChange(db, row.company_id, { event: `export.${verb}`, kind: 'export', id: row.export_id, before, after });
}
