import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { noCompany } from '../../kernel/audit-log.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { handlerOf, type AnyJobHandler, type JobServices } from '../../kernel/job.ts';
import { eraseEntries } from '../audit/erase-entries.ts';
import {
  clearStoredAnswers,
  eraseTraces,
  sealIdentity,
  unsealIdentity,
  type ErasedIdentity,
  type KnownAs,
} from '../employees/erased.ts';
import { sendNotificationMail } from '../notifications/notification-mail.ts';
import { eraseFromTable, type ErasedTable } from './erase-batches.ts';
import { eraseFromChanges, readEarlierNames } from './audited-person.ts';
import { createEraser, fold, type Eraser } from './known-as.ts';

/*
 * Erases a person from what others wrote and what the service has stored of them. It runs after the erasure of the employee, and
 * once more ten minutes later, for what was being written at that moment. What people wrote about work stays: docs/personal-data.md.
 */

/** Answers that were being stored at the moment of the erasure are as old. */
const answersInTransitMs = 10_000;

const aboutEmployee = (employeeId: number) => sql<boolean>`(
  t.payload ->> 'employeeId' = ${String(employeeId)} or t.payload -> 'apiKey' ->> 'userId' = ${String(employeeId)}
)`;

const tables: ErasedTable[] = [
  {
    name: 'comments',
    key: { comment_id: 'bigint' },
    columns: { message: 'text', mentioned_emails: 'text[]', image: 'text' },
  },
  { name: 'notifications', key: { notification_id: 'bigint' }, columns: { title: 'text', message: 'text' } },
  {
    name: 'events',
    key: { stream: 'text', sequence: 'bigint' },
    columns: { payload: 'jsonb' },
    also: aboutEmployee,
  },
  { name: 'webhook_messages', key: { message_id: 'bigint' }, columns: { payload: 'jsonb' }, also: aboutEmployee },
  {
    name: 'webhook_attempts',
    key: { message_id: 'bigint', attempt_id: 'bigint' },
    columns: { answer: 'text' },
  },
];

const run = handlerOf(eraseTraces, async (services, payload) => {
  const { companyId, employeeId, accountId, actorId, erasedAt, sealed } = payload;
  const { database, tokens } = services;
  const person = { companyId, employeeId };
  const { db } = database.forCompany(companyId);
  const given = await unsealIdentity(tokens, person, sealed);
  // Jobs of the last release have no `accountAddress`, and that address as the last one.
  const accountAddress = given.accountAddress ?? (accountId === null ? undefined : given.addresses.at(-1));
  const identity = { ...merge(given, await readEarlierNames(db, person)), accountAddress };
  await keepForNextRun(services, person, identity);
  const knownAs = await withoutColleagues(db, person, identity);
  const eraser = createEraser(knownAs, employeeId);

  for (const table of tables) await eraseFromTable(services, table, person, eraser);
  await clearStoredAnswers(database.db, companyId, new Date(Date.parse(erasedAt) + answersInTransitMs));
  await eraseFromJobs(services, { companyId, erasedAt, accountAddress }, knownAs);
  await eraseFromMails(services, companyId, eraser);

  const about = { erased: { company: companyId, employee: employeeId }, by: actorId, at: erasedAt };
  const accountIds = accountId === null ? [] : [accountId];
  const { pattern } = eraser;
  await eraseEntries({ database, tokens }, companyId, {
    employeeId,
    accountIds,
    pattern,
    about,
    erase: (changes) => eraseFromChanges(changes, employeeId, eraser),
  });
  // Sign-ins without a company, and failed ones, are in the log of none.
  if (accountId !== null)
    await eraseEntries({ database, tokens }, noCompany, {
      employeeId: null,
      accountIds,
      pattern,
      about,
      erase: eraser.erase,
    });
});

const merge = (one: KnownAs, other: KnownAs): KnownAs => ({
  names: [...new Set([...one.names, ...other.names])],
  addresses: [...new Set([...one.addresses, ...other.addresses])],
});

/** Keeps the earlier names, which the log loses in this run, for when the job is run again. */
async function keepForNextRun(
  { database, tokens }: JobServices,
  person: { companyId: number; employeeId: number },
  identity: ErasedIdentity,
): Promise<void> {
  const sealed = await sealIdentity(tokens, person, identity);
  await sql`
    update jobs set payload = payload || jsonb_build_object('sealed', ${sealed}::text)
    where handler = ${eraseTraces.name} and payload ->> 'companyId' = ${String(person.companyId)}
      and payload ->> 'employeeId' = ${String(person.employeeId)}`.execute(database.db);
}

/** What `fold` makes of a name. */
const foldedName = sql<string>`lower(normalize(regexp_replace(name, '[\\s\\u00a0\\u202f]+', ' ', 'g')))`;

/** Without what a colleague is called too: a text with it may mean the colleague. */
async function withoutColleagues(
  db: Db,
  { companyId, employeeId }: { companyId: number; employeeId: number },
  { names, addresses }: KnownAs,
): Promise<KnownAs> {
  const colleagues = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('employee_id', '<>', employeeId)
    .where((eb) =>
      eb.or([eb(foldedName, '=', eb.fn.any(eb.val(names.map(fold)))), eb('email', '=', eb.fn.any(eb.val(addresses)))]),
    )
    .select(['name', 'email'])
    .execute();
  const taken = new Set(colleagues.flatMap(({ name, email }) => [fold(name), email]));
  return {
    names: names.filter((name) => !taken.has(fold(name))),
    addresses: addresses.filter((address) => !taken.has(address)),
  };
}

/**
 * Mails that waited for the account when it was erased are not sent, and no error of a mail of the company names its address.
 * Another address that the person had here may be somebody else's, and that of the account may be a new one's since.
 */
async function eraseFromJobs(
  { database: { db } }: JobServices,
  { companyId, erasedAt, accountAddress }: { companyId: number; erasedAt: string; accountAddress: string | undefined },
  { addresses }: KnownAs,
): Promise<void> {
  const isForAccount = sql`(
    payload ->> 'email' = ${accountAddress ?? null}::text and created_at <= ${erasedAt}::timestamptz
  )`;
  await sql`
    delete from jobs where ${isForAccount} and (leased_until is null or leased_until < now())`.execute(db);
  await sql`
    update jobs set last_error = null
    where last_error is not null and (${isForAccount} or payload ->> 'companyId' = ${String(companyId)} and exists (
      select from unnest(${addresses}::text[]) as a (address) where position(a.address in lower(last_error)) > 0
    ))`.execute(db);
}

/** Mails about notifications, which colleagues wait for, have the same texts. */
async function eraseFromMails(services: JobServices, companyId: number, { pattern, erase }: Eraser): Promise<void> {
  await inTransaction(services, companyId, async (db) => {
    const { rows } = await sql<{ id: number; listed: unknown }>`
      select job_id as id, payload -> 'listed' as listed from jobs
      where handler = ${sendNotificationMail.name} and payload ->> 'companyId' = ${String(companyId)}
        and payload::text ~* ${pattern} order by job_id for update`.execute(db);
    for (const { id, listed } of rows)
      await sql`
        update jobs set payload = payload || jsonb_build_object('listed', ${JSON.stringify(erase(listed))}::jsonb)
        where job_id = ${id}`.execute(db);
  });
}

export const handlers: AnyJobHandler[] = [run];
