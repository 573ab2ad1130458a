import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { enqueueJob, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import type { Member } from '../../kernel/context.ts';
import { id } from '../../kernel/wire/fields.ts';
import { listActiveIds, listNames } from '../employees/queries.ts';
import { notify, type NewNotification } from '../notifications/notify.ts';
import type { TaskToInsert } from './insert-tasks.ts';

/** Notifies people of the tasks that an import has made theirs: each once, however many tasks these are. */
const tasksImported = jobHandler({
  name: 'tasks-imported',
  payload: z.object({
    companyId: id,
    actorId: id,
    /** Identifies the import: a later one notifies again. */
    imported: z.string(),
    owners: z.array(z.object({ employeeId: id, tasks: z.int() })),
  }),
  async run(services, { companyId, actorId, imported, owners }) {
    const { clock, settings } = services;
    await inTransaction(services, companyId, async (db) => {
      const names = await listNames(db, companyId, [actorId]);
      const ids = owners.map(({ employeeId }) => employeeId);
      const active = await listActiveIds(db, companyId, ids);
      const toTell = ({ employeeId, tasks }: (typeof owners)[number]): NewNotification => ({
        recipientId: employeeId,
        cause: `tasks imported ${imported}`,
        appType: 'task',
        category: 'task',
        priority: 'primary',
        title: `${names.get(actorId)} imported ${tasks === 1 ? 'a task' : `${tasks} tasks`} of yours`,
        message: 'You own them now: they are in your list of tasks.',
        link: `${settings.appUrl}/tasks`,
        actorId,
      });
      const told = owners.filter(({ employeeId }) => active.has(employeeId));
      await notify(db, companyId, told.map(toTell), clock.now());
    });
  },
});

/** Enqueues a notification for each owner of new tasks but the one who imports them. */
export async function notifyOwners(
  db: Db,
  tasks: readonly TaskToInsert[],
  { caller, now }: { caller: Member; now: Date },
): Promise<void> {
  const { companyId, employeeId: actorId } = caller;
  const others = tasks.filter(({ ownerId }) => ownerId !== actorId);
  const owners = [...Map.groupBy(others, ({ ownerId }) => ownerId)].map(([employeeId, { length }]) => ({
    employeeId,
    tasks: length,
  }));
  if (owners.length === 0) return;
  const imported = randomUUID();
  await enqueueJob(db, tasksImported, { dedupeKey: imported, payload: { companyId, actorId, imported, owners }, now });
}

export const handlers: AnyJobHandler[] = [tasksImported];
