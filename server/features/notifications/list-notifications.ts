import { z } from 'zod';
import { FORBIDDEN } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { id, page, pageOf } from '../../kernel/wire.ts';
import { appTypes, categories, priorities } from './notify.ts';
import { findCounts, ownNotifications, requireSelf, toNotification, withRecord, type Counts } from './queries.ts';
import { Notification } from './schemas.ts';

const pageSize = 10;

const filters = z.object({
  app_type: z
    .string()
    .toLowerCase()
    .pipe(z.enum(appTypes))
    .optional()
    .meta({ description: '`hr` or `task`, without regard to case' }),
  category: z.enum(categories).optional(),
  priorty: z.enum(priorities).optional(),
  isArchive: z.boolean().optional(),
  later: z.boolean().optional(),
  read: z.boolean().optional(),
  starred: z.boolean().optional(),
  isMention: z.boolean().optional(),
});
type Filters = z.infer<typeof filters>;

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
    const { recipient_id: recipientId, page: number, ...wanted } = input;
    const recipient = await requireSelf(ctx.db, ctx.caller, recipientId);
    const matching = matchingOf(ownNotifications(ctx.db, recipient), wanted);
    const rows = await withRecord(matching)
      .orderBy('n.notification_id', 'desc')
      .limit(pageSize)
      .offset((number - 1) * pageSize)
      .execute();
    const total = keptTotal(await findCounts(ctx.db, recipient), wanted) ?? (await countOf(matching));
    return {
      results: rows.map(toNotification),
      page: number,
      pageSize,
      total,
      totalPages: Math.ceil(total / pageSize),
    };
  });

function matchingOf(query: ReturnType<typeof ownNotifications>, wanted: Filters) {
  const { app_type: appType, category, priorty, isArchive, later, read, starred, isMention } = wanted;
  return query
    .$if(appType !== undefined, (some) => some.where('n.app_type', '=', appType!))
    .$if(category !== undefined, (some) => some.where('n.category', '=', category!))
    .$if(priorty !== undefined, (some) => some.where('n.priority', '=', priorty!))
    .$if(isArchive !== undefined, (some) => some.where('n.is_archived', '=', isArchive!))
    .$if(later !== undefined, (some) => some.where('n.is_later', '=', later!))
    .$if(read !== undefined, (some) => some.where('n.is_read', '=', read!))
    .$if(starred !== undefined, (some) => some.where('n.is_starred', '=', starred!))
    .$if(isMention !== undefined, (some) => some.where('n.is_mention', '=', isMention!));
}

/** The totals that need no counting: of everything, and by the flag that the badge shows. */
function keptTotal({ unread, total }: Counts, wanted: Filters): number | undefined {
  const named = Object.entries(wanted).filter(([, value]) => value !== undefined);
  if (named.length === 0) return total;
  if (named.length === 1 && wanted.read !== undefined) return wanted.read ? total - unread : unread;
  return undefined;
}

async function countOf(matching: ReturnType<typeof ownNotifications>): Promise<number> {
  const { count } = await matching.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return count;
}
