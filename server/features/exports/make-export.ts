import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Database, Db } from '../../../db/open.ts';
import { transact } from '../../../db/transaction.ts';
import { jobHandler, type AnyJobHandler, type JobServices } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { getCompany } from '../company/queries.ts';
import { archivePieces } from './archive.ts';
import { statementsOf } from './statements.ts';

/*
 * An export is made by a job. It reads everything in one transaction with a snapshot, so that the tables fit together, and stores
 * the file in parts. The parts belong to a run of the job: a node that is killed leaves an export without an end, whose job runs
 * again from the start, and of two runs the first to end wins.
 *
 * On a server parts are stored on another connection than the snapshot's, so that progress shows. The embedded database has one
 * connection, which the snapshot holds: everything else waits until it is made.
 */

export const lifetimeMs = 24 * 3600 * 1000;
const partBytes = 1024 * 1024;

type Asked = { companyId: number; exportId: number };

export const makeExport = jobHandler({
  name: 'make-export',
  payload: z.object({ companyId: id, exportId: id }),
  async run(services, asked) {
    const { db } = services.database.forCompany(asked.companyId);
    const row = await begin(db, asked, services.clock.now());
    // It was deleted, or is finished.
    if (!row) return;
    await inSnapshot(services.database, asked.companyId, (snapshot, writes) =>
      make({ services, snapshot, writes }, { ...asked, employeeId: row.employee_id }),
    );
    await deleteUnused(db, asked);
  },
});

export const handlers: AnyJobHandler[] = [makeExport];

const begin = (db: Db, asked: Asked, now: Date) =>
  ofExport(db, asked)
    .set({ started_at: now, rows_done: 0 })
    .where('finished_at', 'is', null)
    .returning('employee_id')
    .executeTakeFirst();

const ofExport = (db: Db, { companyId, exportId }: Asked) =>
  db.updateTable('exports').where('company_id', '=', companyId).where('export_id', '=', exportId);

type Handles = { services: JobServices; snapshot: Db; writes: Db };

async function make({ services, snapshot, writes }: Handles, asked: Asked & { employeeId: number | null }) {
  const { clock } = services;
  const { companyId, exportId, employeeId } = asked;
  const statements = statementsOf({ companyId, employeeId });
  const { name } = await getCompany(snapshot, companyId);
  let total = 0;
  for (const { count } of statements) total += (await count.execute(snapshot)).rows[0]!.count;
  await ofExport(writes, asked).set({ rows_total: total }).execute();

  const run = randomUUID();
  const pieces = archivePieces({
    db: snapshot,
    statements,
    manifest: {
      exportedAt: clock.now().toISOString(),
      company: { id: companyId, name },
      employee: employeeId,
    },
    onRows: progressOf(writes, asked),
  });
  const hash = createHash('sha256');
  let bytes = 0;
  let part = 0;
  for await (const content of inParts(pieces)) {
    hash.update(content);
    bytes += content.length;
    await writes
      .insertInto('export_parts')
      .values({ company_id: companyId, export_id: exportId, run, part, content })
      .execute();
    part += 1;
  }
  const now = clock.now();
  await ofExport(writes, asked)
    .set({
      run,
      byte_count: bytes,
      sha256: hash.digest('hex'),
      rows_done: total,
      finished_at: now,
      expires_at: new Date(now.getTime() + lifetimeMs),
    })
    .where('finished_at', 'is', null)
    .execute();
}

const progressMs = 500;

/** Stores how many rows were written, a few times a second. */
function progressOf(db: Db, asked: Asked): (count: number) => Promise<void> {
  let done = 0;
  let storedAt = 0;
  return async (count) => {
    done += count;
    if (performance.now() - storedAt < progressMs) return;
    storedAt = performance.now();
    await ofExport(db, asked).set({ rows_done: done }).execute();
  };
}

async function* inParts(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    gathered.push(piece);
    size += piece.length;
    if (size < partBytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(gathered);
}

/** Runs `body` in a transaction that sees the database as it is at its first statement, and with a handle for writes. */
async function inSnapshot(
  database: Database,
  companyId: number,
  body: (snapshot: Db, writes: Db) => Promise<void>,
): Promise<void> {
  const handles = database.forCompany(companyId);
  await transact(handles, async (snapshot) => {
    await sql`set transaction isolation level repeatable read`.execute(snapshot);
    await body(snapshot, database.kind === 'embedded' ? snapshot : handles.db);
  });
}

/** Deletes what runs that were killed, or came second, have left. */
async function deleteUnused(db: Db, { companyId, exportId }: Asked): Promise<void> {
  await sql`
    delete from export_parts as p using exports as e
    where p.company_id = ${companyId} and p.export_id = ${exportId}
      and e.company_id = p.company_id and e.export_id = p.export_id and e.run <> p.run`.execute(db);
}
