import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { auditExport } from '../../kernel/audit.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { Download, orDownload, requireDownloads } from '../../kernel/wire/download.ts';
import { streamed } from '../../kernel/wire/json-stream.ts';
import { parserOf } from '../../kernel/parser.ts';
import { csvPieces, type Cell } from '../../kernel/wire/csv.ts';
import { batchesOf, type Filters } from './entries.ts';
import { filterFields, readFilters } from './filters.ts';
import { AuditEntry, type AuditEntryRecord } from './schemas.ts';

const columns = Object.keys(AuditEntry.shape) as (keyof AuditEntryRecord)[];
const example = `${columns.join()}\r\n104,2026-03-01T09:00:00.000Z,tasks.update,done,,1,7,7,,31,192.0.2.7,b4c5e0f2,rest,task:12,[]\r\n`;
const lineExample = '{"_id":104,"at":"2026-03-01T09:00:00.000Z","operation":"tasks.update"}\n';

export const exportAudit = admin('everything')
  .meta(
    rest('GET /api/audit/company/{company_id}/export/', {
      section: 'Additions',
      summary: 'The audit log of the company as a file',
      description:
        'All rows that match the filters, the newest first: `format=jsonl` is a file with a row as JSON in each line, `format=csv` one for spreadsheets, with `subject` as `task:12` and `changes` as JSON; `json` the same as one list. The file is sent while it is made. That it was taken is a row of the log itself.',
      isLongRead: true,
      example: { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z', format: 'json' },
    }),
  )
  .input(z.object({ ...filterFields, format: z.enum(['json', 'jsonl', 'csv']).default('json') }))
  .output(orDownload(z.object({ results: z.array(AuditEntry) }), { csv: example, jsonl: lineExample }))
  .query(async ({ ctx, input }) => {
    const { format, company_id: companyId, ...asked } = input;
    if (format !== 'json') requireDownloads(ctx.request);
    const filters = await readFilters(ctx.db, ctx.caller, input);
    await auditExport(ctx, 'audit.export', { ...asked, format });
    if (format === 'json') return streamed({ field: 'results', item: AuditEntry, batches: batchesOf(ctx.db, filters) });
    const filename = `audit-${companyId}.${format}`;
    if (format === 'csv') return new Download({ format, filename, body: csvOf(ctx.db, filters) });
    return new Download({ format, filename, body: linesOf(ctx.db, filters) });
  });

const parse = parserOf(AuditEntry);

async function* linesOf(db: Db, filters: Filters): AsyncGenerator<string> {
  for await (const entries of batchesOf(db, filters))
    yield entries.map((entry) => `${JSON.stringify(parse(entry))}\n`).join('');
}

function csvOf(db: Db, filters: Filters): AsyncGenerator<string> {
  async function* lines(): AsyncGenerator<Cell[][]> {
    for await (const entries of batchesOf(db, filters))
      yield entries.map((entry) => columns.map((name) => toCell(entry, name)));
  }
  return csvPieces(columns, lines());
}

function toCell(entry: AuditEntryRecord, name: keyof AuditEntryRecord): Cell {
  const value = entry[name];
  if (name === 'subject') return entry.subject && [entry.subject.kind, entry.subject.id].join(':');
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
