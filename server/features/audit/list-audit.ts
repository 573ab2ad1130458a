import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { cursorField, cursorNumber, readCursor, toCursor } from '../../kernel/wire/cursor.ts';
import { listEntries } from './entries.ts';
import { filterFields, readFilters } from './filters.ts';
import { AuditPage } from './schemas.ts';

const pageSize = 50;
const position = z.tuple([cursorNumber, cursorNumber]);

export const listAudit = admin('everything')
  .meta(
    rest('GET /api/audit/company/{company_id}/', {
      section: 'Additions',
      summary: 'The audit log of the company',
      description: `Who changed what, and when: a row for each change, sign-in, failed sign-in, file that was taken, and refused call; the newest first, ${pageSize} at a time. A row is there as soon as its change is. Filters are combined. See [the guide](/docs/guides/audit) for what is not audited, and for what the log proves.`,
      isLongRead: true,
      example: { operation: 'tasks.update', from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' },
    }),
  )
  .input(
    z.object({
      ...filterFields,
      cursor: cursorField,
    }),
  )
  .output(AuditPage)
  .query(async ({ ctx, input }) => {
    const filters = await readFilters(ctx.db, ctx.caller, input);
    const place = readCursor(input.cursor, position);
    const before = place && { xid: place[0], id: place[1] };
    const { entries, last } = await listEntries(ctx.db, filters, { before, limit: pageSize });
    return { results: entries, nextCursor: last && entries.length === pageSize ? toCursor(last.xid, last.id) : null };
  });
