import type { RawBuilder } from 'kysely';
import { z } from 'zod';
import { compiled, compiledFor } from '../../../db/compiled.ts';
import { cutPage } from '../../../db/cut-page.ts';
import type { Db } from '../../../db/open.ts';
import { FORBIDDEN } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { readPage } from '../../kernel/read-page.ts';
import { id, page, pageOf } from '../../kernel/wire.ts';
import { appTypes, categories, priorities } from './kinds.ts';
import {
  findCounts,
  ownNotifications,
  requireSelf,
  toNotification,
  withRecord,
  type NotificationRow,
  type Recipient,
} from './queries.ts';
import { Notification } from './schemas.ts';
import { columnsIn, countFiltered, filterKeyOf, type Filters } from './filters.ts';

const pageSize = 10;

const filters = z.object({
  app_type: z
    .string()
    .toLowerCase()
    .pipe(z.enum(appTypes))
    .meta({ description: 'Without regard to case', enum: [...appTypes] })
    .optional(),
  category: z.enum(categories).optional(),
  priorty: z.enum(priorities).optional(),
  priority: z
    .enum(priorities)
    .meta({ description: 'The same as `priorty`, which counts where both are sent' })
    .optional(),
  isArchive: z.boolean().optional(),
  later: z.boolean().optional(),
  read: z.boolean().optional(),
  starred: z.boolean().optional(),
  isMention: z.boolean().optional(),
});

export const listNotifications = member
  .meta(
    rest('GET /notifications/recipient/{recipient_id}/', {
      section: 'Notifications',
      summary: "One's own notifications, filtered, the newest first",
      description:
        '10 a page; a page past the end is empty. A filter that is left out lets everything through, archived ones included.',
      faults: [FORBIDDEN],
    }),
  )
  .input(filters.extend({ recipient_id: id, page }))
  .output(pageOf(Notification))
  .query(async ({ ctx, input }) => {
    const { recipient_id: recipientId, page: wantedPage, ...filtered } = input;
    const recipient = await requireSelf(ctx.db, ctx.caller, recipientId);
    const wanted = toColumns(filtered);
    return readPage({
      page: wantedPage,
      pageSize,
      readRows: (skipped) => readRows(ctx.db, wanted, recipient, skipped),
      readTotal: () => totalOf(ctx.db, recipient, wanted),
      toItem: toNotification,
    });
  });

const toColumns = (filtered: z.infer<typeof filters>): Filters => ({
  app_type: filtered.app_type,
  category: filtered.category,
  priority: filtered.priorty ?? filtered.priority,
  is_archived: filtered.isArchive,
  is_later: filtered.later,
  is_read: filtered.read,
  is_starred: filtered.starred,
  is_mention: filtered.isMention,
});

function readRows(db: Db, wanted: Filters, recipient: Recipient, skipped: number): Promise<NotificationRow[]> {
  const filterKey = filterKeyOf(wanted);
  if (filterKey === '' && skipped === 0) return readNewest(db, recipient);
  return readMatching(db, filterKey, { ...recipient, ...wanted, skipped });
}

/** What is asked for most has one plan for all. */
const readNewest = compiled<Recipient, NotificationRow>((db, blank) =>
  withRecord(ownNotifications(db, { companyId: blank('companyId'), employeeId: blank('employeeId') }))
    .orderBy('n.notification_id', 'desc')
    .$call(cutPage({ size: pageSize, skipped: 0, isWhole: true }))
    .compile(),
);

/** Planned by what is wanted: only then an index of what few notifications have is found. */
const readMatching = compiledFor<string, Recipient & Filters & { skipped: number }, NotificationRow>(
  (db, blank, filterKey) => {
    const own = ownNotifications(db, { companyId: blank('companyId'), employeeId: blank('employeeId') });
    const matching = columnsIn(filterKey).reduce(
      (query, name) => query.where(`n.${name}`, '=', blank(name) as RawBuilder<never>),
      own,
    );
    return withRecord(matching)
      .orderBy('n.notification_id', 'desc')
      .$call(cutPage({ size: pageSize, skipped: blank('skipped'), isWhole: false }))
      .compile();
  },
);

/** Of everything it is one row; of whatever else is wanted the tallies are summed. */
async function totalOf(db: Db, recipient: Recipient, wanted: Filters): Promise<number> {
  return filterKeyOf(wanted) === '' ? (await findCounts(db, recipient)).total : countFiltered(db, recipient, wanted);
}
