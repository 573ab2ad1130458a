import type { RawBuilder } from 'kysely';
import { z } from 'zod';
import { compiled, compiledFor } from '../../../db/pipeline/compiled.ts';
import { paginate } from '../../../db/pipeline/paginate.ts';
import type { Db } from '../../../db/open.ts';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { readPage } from '../../kernel/wire/read-page.ts';
import { ownId, page, pageOf } from '../../kernel/wire/fields.ts';
import { appTypes, categories, priorities } from './kinds.ts';
import {
  readCounters,
  ownNotifications,
  requireSelf,
  toNotification,
  withRelatedRows,
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

export const listNotifications = member('notifications')
  .meta(
    rest('GET /notifications/recipient/{recipient_id}/', {
      section: 'Notifications',
      summary: "One's own notifications, filtered, the newest first",
      description:
        '10 a page; a page past the end is empty. A filter that is left out lets everything through, archived ones included.',
      errors: [FORBIDDEN],
      tool: {
        name: 'notifications',
        hides: ['recipient_id', 'app_type', 'priorty', 'later'],
        leavesOut: ['recipient_id', 'app_type', 'priorty', 'later', 'page', 'pageSize', 'totalPages'],
      },
    }),
  )
  .input(filters.extend({ recipient_id: ownId(), page }))
  .output(pageOf(Notification))
  .query(async ({ ctx, input }) => {
    const { recipient_id: recipientId, page: wantedPage, ...filtered } = input;
    const recipient = await requireSelf(ctx.db, ctx.caller, recipientId);
    const wanted = toColumns(filtered);
    return readPage({
      page: wantedPage,
      pageSize,
      readRows: (offset) => readRows(ctx.db, wanted, recipient, offset),
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

function readRows(db: Db, wanted: Filters, recipient: Recipient, offset: number): Promise<NotificationRow[]> {
  const filterKey = filterKeyOf(wanted);
  if (filterKey === '' && offset === 0) return readNewest(db, recipient);
  return readMatching(db, filterKey, { ...recipient, ...wanted, offset });
}

/** The most frequent list has one generic plan. */
const readNewest = compiled<Recipient, NotificationRow>((db, placeholder) =>
  withRelatedRows(ownNotifications(db, { companyId: placeholder('companyId'), employeeId: placeholder('employeeId') }))
    .orderBy('n.notification_id', 'desc')
    .$call(paginate({ size: pageSize, offset: 0, isUnfiltered: true }))
    .compile(),
);

/** Planned by its values: only then PostgreSQL uses an index on rare notifications. */
const readMatching = compiledFor<string, Recipient & Filters & { offset: number }, NotificationRow>(
  (db, placeholder, filterKey) => {
    const own = ownNotifications(db, { companyId: placeholder('companyId'), employeeId: placeholder('employeeId') });
    const matching = columnsIn(filterKey).reduce(
      (query, name) => query.where(`n.${name}`, '=', placeholder(name) as RawBuilder<never>),
      own,
    );
    return withRelatedRows(matching)
      .orderBy('n.notification_id', 'desc')
      .$call(paginate({ size: pageSize, offset: placeholder('offset'), isUnfiltered: false }))
      .compile();
  },
);

/** The unfiltered total is one row; for a filter the counters are summed. */
async function totalOf(db: Db, recipient: Recipient, wanted: Filters): Promise<number> {
  return filterKeyOf(wanted) === '' ? (await readCounters(db, recipient)).total : countFiltered(db, recipient, wanted);
}
