import type { z } from 'zod';
import { OVERLOADED, PERIOD_LOCKED, periodLocked, validationFailed } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import type { Member, MutationScope, Services } from '../../kernel/context.ts';
import { createFairQueue } from '../../platform/fair-queue.ts';
import { projectCreated, projectImported } from '../projects/events.ts';
import { DUPLICATE_TASK_LOG } from '../task-logs/errors.ts';
import type { Drafts } from './drafts.ts';
import { createDateReader, createZone, type DateOrder } from './local-time.ts';
import { readPeople } from './people.ts';
import { planImport, type Plan } from './plan-import.ts';
import { lockImports } from './queries.ts';
import { readDrafts } from './read-drafts.ts';
import { bodyBytesMax, errorsShown, ImportInput, ImportReport } from './schemas.ts';
import { createStatusOf } from './statuses.ts';
import { storeImport } from './store-import.ts';

export const runCsvImport = admin(['time', 'tasks', 'projects'])
  .meta(
    rest('POST /api/imports/csv/', {
      section: 'Additions',
      summary: 'Import time and tasks from a CSV file',
      description: `For admins. Takes a detailed report of Toggl Track or Clockify (time on tasks), issues of Jira (tasks and the work logged on them) or a board of Trello (tasks), at most 8 MiB as JSON and 20,000 rows, as [a guide](/docs/guides/csv-imports) describes. Projects and tasks that are not there by name are created; people never are. With \`dry_run\` it answers what would be done, and changes nothing.\n\nWhere rows have errors, nothing is stored, and \`issues\` names the first ${errorsShown} by line and column: 400, or 409 \`PERIOD_LOCKED\` where locked days are all that is wrong. With \`skip_errors\` the other rows are imported. All is stored at once or nothing is.\n\nThe same file can be imported again: rows that were imported are skipped, as long as the task or log that they became exists.`,
      errors: [DUPLICATE_TASK_LOG, OVERLOADED, PERIOD_LOCKED],
      changes: [projectCreated, projectImported],
      bodyBytesMax,
      example: {
        source: 'trello',
        csv: 'Card ID,Card Name,Card Description,Members,Due Date,List Name,Board Name,Archived\r\n64a1f0c2,Cut the gears,Brass,,2026-03-31T16:00:00.000Z,Doing,Clockwork,false\r\n',
        time_zone: 'Europe/London',
        date_order: 'YMD',
        dry_run: false,
      },
    }),
  )
  .input(ImportInput)
  .output(ImportReport)
  .mutation(({ ctx, input }) => imports([String(ctx.caller.companyId)], () => importCsv(ctx, input)));

/** Reading a file takes the processor, and storing it a connection: each process has one import at a time. */
const imports = createFairQueue({ running: 1, waiting: 16, waitingPerKey: 4 });

type Ctx = Pick<MutationScope, 'db' | 'afterCommit'> & { caller: Member; services: Services };
type Input = z.output<typeof ImportInput>;

async function importCsv(
  { db, caller, services, afterCommit }: Ctx,
  input: Input,
): Promise<z.input<typeof ImportReport>> {
  const { companyId } = caller;
  const { source, csv, people, projects, dry_run: isDry } = input;
  const now = services.clock.now();
  const dates = createDateReader(input.date_order);
  // Read before the transaction has a connection.
  const findPerson = await readPeople(services.database.forCompany(companyId).db, companyId, people);
  const statusOf = createStatusOf(source, input.statuses);
  const drafts = await readDrafts(csv, {
    source,
    dates,
    zone: createZone(input.time_zone),
    findPerson,
    projectName: unifyNames(projects),
    statusOf,
    now,
  });

  if (!isDry) await lockImports(db, companyId);
  const plan = await planImport(db, { companyId, source, projects, isDry }, drafts);
  const orders = dates.findFittingOrders();
  if (isDry) return toReport(drafts, plan, { orders, isDry, projectIds: plan.projectIds });
  if (plan.errors.length > 0 && !input.skip_errors) throw refusal(plan, input.date_order, orders);
  const projectIds = await storeImport(db, plan, { caller, source, now });
  afterCommit(services.wakeWorker);
  return toReport(drafts, plan, { orders, isDry, projectIds });
}

function unifyNames(projects: Record<string, number>): (name: string) => string {
  const first = new Map(
    Object.entries(projects)
      .toReversed()
      .map(([name, projectId]) => [projectId, name]),
  );
  return (name) => (Object.hasOwn(projects, name) ? first.get(projects[name]!)! : name);
}

function refusal({ errors, lockedDays }: Plan, stated: DateOrder, orders: readonly DateOrder[]) {
  const shown = errors.slice(0, errorsShown);
  const issues = shown.map(({ line, column, message, code }) => ({
    path: ['csv', line, ...(column === null ? [] : [column])],
    message,
    code,
  }));
  if (errors.every(({ code }) => code === 'locked')) return periodLocked(lockedDays, { issues });
  if (orders.length === 0) return validationFailed(issues);
  const message = `is ${stated}, and all dates of the file fit ${orders.join(' or ')}`;
  return validationFailed([{ path: ['date_order'], message, code: 'mismatch' }, ...issues]);
}

function toReport(
  { rows }: Drafts,
  plan: Plan,
  { orders, isDry, projectIds }: { orders: DateOrder[]; isDry: boolean; projectIds: ReadonlyMap<string, number> },
): z.input<typeof ImportReport> {
  const { newProjects, newTasks, newLogs, targets, errors, skipped } = plan;
  const projectOf = (ref: string): string => (targets.get(ref) ?? newTasks.get(ref)!).project;
  const tasks = Map.groupBy(newTasks.values(), ({ project }) => project);
  const logs = Map.groupBy(newLogs, ({ task }) => projectOf(task));
  const names = [...new Set([...tasks.keys(), ...logs.keys()])].toSorted((a, b) => a.localeCompare(b));
  const isNew = new Set(newProjects);
  const known = new Map([
    ...[...targets.values()].map(({ project, projectId }) => [project, projectId] as const),
    ...projectIds,
  ]);
  return {
    dry_run: isDry,
    rows,
    created: { projects: newProjects.length, tasks: newTasks.size, logs: newLogs.length },
    skipped,
    projects: names.map((name) => ({
      _id: known.get(name) ?? null,
      name,
      isNew: isNew.has(name),
      tasks: tasks.get(name)?.length ?? 0,
      logs: logs.get(name)?.length ?? 0,
    })),
    errorCount: errors.length,
    errors: errors.slice(0, errorsShown),
    fittingDateOrders: orders,
  };
}
