import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { ZipFile } from 'yazl';
import type { Db } from '../../../db/open.ts';
import type { Table } from '../../../db/catalogue.ts';
import { exportedColumns, type Page, type TableStatement } from './statements.ts';

/*
 * The file of an export is a ZIP archive: for each table `<table>.jsonl`, a row as JSON in each line, then `manifest.json`.
 * docs/exports.md describes it.
 */

export const archiveFormat = 'work-management-export';
/** Raised where older readers would misread a file. A table or column more does not need it. */
export const archiveVersion = 1;

/** What a file says of itself. */
export type Manifest = {
  format: string;
  version: number;
  exportedAt: string;
  company: { id: number; name: string };
  /** The employee whose data it has; null for the whole company. */
  employee: number | null;
  tables: { name: string; columns: string[]; rows: number; sha256: string }[];
};

type Parts = {
  /** A transaction with a snapshot: all tables are read as they were at one moment. */
  db: Db;
  statements: readonly TableStatement[];
  manifest: Omit<Manifest, 'format' | 'version' | 'tables'>;
  /** Told after each batch of rows. */
  onRows(count: number): Promise<void>;
};

/** Writes the archive in pieces while the rows are read. */
export async function* archivePieces({ db, statements, manifest, onRows }: Parts): AsyncGenerator<Buffer> {
  const zip = new ZipFile();
  const pieces = zip.outputStream as Readable;
  const options = { mtime: new Date(manifest.exportedAt), mode: 0o600 };
  const tables: Manifest['tables'] = [];
  for (const statement of statements) {
    const { table } = statement;
    zip.addReadStreamLazy(`${table}.jsonl`, options, (open) => {
      const hash = createHash('sha256');
      const entry = { name: table, columns: columnsOf(table), rows: 0, sha256: '' };
      const source = Readable.from(linesOf(), { objectMode: false });
      // Without this the archive would wait for ever.
      source.on('error', (error) => pieces.destroy(error));
      open(null, source);

      async function* linesOf(): AsyncGenerator<Buffer> {
        for await (const { text, count } of batchesOf(db, statement)) {
          const piece = Buffer.from(`${text}\n`);
          hash.update(piece);
          entry.rows += count;
          await onRows(count);
          yield piece;
        }
        tables.push({ ...entry, sha256: hexOf(hash) });
      }
    });
  }
  zip.addReadStreamLazy('manifest.json', options, (open) => {
    const said: Manifest = { format: archiveFormat, version: archiveVersion, ...manifest, tables };
    open(null, Readable.from([Buffer.from(`${JSON.stringify(said, undefined, 2)}\n`)], { objectMode: false }));
  });
  zip.end();
  yield* pieces as AsyncIterable<Buffer>;
}

const hexOf = (hash: Hash): string => hash.digest('hex');

/** The columns of a table in its lines. */
export const columnsOf = (table: Table): string[] =>
  exportedColumns(table).map(([name]) => (name === 'plan_id' ? 'plan' : name));

type Batch = { text: string; count: number };

/**
 * Reads the lines of a table a batch at a time. Lines that come as one text leave a third of the garbage of as many strings, and
 * the process stays that much smaller. Tables without numbers are read through a cursor.
 */
async function* batchesOf(db: Db, { table, lines, page }: TableStatement): AsyncGenerator<Batch> {
  if (!page) return yield* fetched(db, table, lines);
  for (let after = 0; ;) {
    const { rows } = await page(after).execute(db);
    const [{ lines: text, count, last }] = rows as [Page];
    if (text === null) return;
    yield { text, count };
    after = last;
  }
}

/** Few enough to take little memory: a picture may have 100 kB. */
const fetchSize = (table: Table): number => (table === 'pictures' ? 20 : 200);

async function* fetched(db: Db, table: Table, lines: TableStatement['lines']): AsyncGenerator<Batch> {
  await sql`declare exported no scroll cursor for ${lines}`.execute(db);
  const fetch = sql<{ line: string }>`fetch ${sql.raw(String(fetchSize(table)))} from exported`;
  for (let next = await fetch.execute(db); next.rows.length > 0; next = await fetch.execute(db))
    yield { text: next.rows.map(({ line }) => line).join('\n'), count: next.rows.length };
  await sql`close exported`.execute(db);
}
