import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { z } from 'zod';
import type { Table } from '../../../db/catalogue.ts';
import { archiveFormat, archiveVersion, columnsOf, type Manifest } from './archive.ts';
import { companyTables } from './statements.ts';

/** The file is no export that can be imported; the message says why, in one sentence. */
export class BadArchive extends Error {
  override name = 'BadArchive';
}

export type Archive = {
  manifest: Manifest;
  /** The rows of a table with the numbers of their lines, checked against the manifest at the end. */
  rows(table: Table): AsyncGenerator<{ line: number; row: Row }>;
  close(): void;
};

export type Row = Record<string, unknown>;

const manifestBytesMax = 1024 * 1024;
/** More than a picture or the longest text takes. */
const lineBytesMax = 4 * 1024 * 1024;

export async function openArchive(path: string): Promise<Archive> {
  const zip = await openZip(path);
  try {
    const entries = await listEntries(zip);
    const manifest = await readManifest(zip, entries.get('manifest.json'));
    for (const { name } of manifest.tables)
      if (!entries.has(`${name}.jsonl`))
        throw new BadArchive(`The archive lacks ${name}.jsonl, which its manifest lists.`);
    return {
      manifest,
      rows: (table) => rowsOf(zip, entries, manifest, table),
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    return await yauzl.openPromise(path, { autoClose: false, strictFileNames: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new BadArchive(`There is no file ${path}.`);
    const what = code === undefined ? 'is no complete ZIP archive' : 'cannot be read';
    throw new BadArchive(`${path} ${what}: ${asSentence(message)}`, { cause: error });
  }
}

async function listEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      if (entries.has(entry.fileName)) throw new BadArchive(`The archive has two files ${entry.fileName}.`);
      entries.set(entry.fileName, entry);
    }
  } catch (error) {
    throw asBadArchive(error, 'The archive is damaged');
  }
  return entries;
}

const asSentence = (message: string): string => message.replace(/\.?$/, '.');

const asBadArchive = (error: unknown, what: string): BadArchive =>
  error instanceof BadArchive
    ? error
    : new BadArchive(`${what}: ${asSentence((error as Error).message)}`, { cause: error });

const ManifestSchema = z.object({
  format: z.literal(archiveFormat),
  version: z.int(),
  exportedAt: z.iso.datetime(),
  company: z.object({ id: z.int().positive(), name: z.string() }),
  employee: z.int().nullable(),
  tables: z.array(
    z.object({ name: z.string(), columns: z.array(z.string()), rows: z.int().min(0), sha256: z.hex().length(64) }),
  ),
});

async function readManifest(zip: ZipFile, entry: Entry | undefined): Promise<Manifest> {
  const foreign = 'The archive is no export of this service: it has no manifest.json that says so.';
  if (!entry || entry.uncompressedSize > manifestBytesMax) throw new BadArchive(foreign);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of await open(zip, entry)) chunks.push(chunk as Buffer);
  } catch (error) {
    throw asBadArchive(error, 'manifest.json is damaged');
  }
  const { success, data } = ManifestSchema.safeParse(parseJson(Buffer.concat(chunks).toString()));
  if (!success) throw new BadArchive(foreign);
  checkManifest(data);
  return data;
}

const newer = 'by a newer version of the service: update this one first';

function checkManifest({ version, employee, tables }: Manifest): void {
  if (version > archiveVersion) throw new BadArchive(`The archive was made ${newer}.`);
  if (employee !== null)
    throw new BadArchive('The archive has the data of one person. Only that of a whole company can be imported.');
  const known = new Set<string>(companyTables);
  for (const { name, columns } of tables) {
    if (!known.delete(name)) throw new BadArchive(`The archive has a table ${name}: it was made ${newer}.`);
    const own = new Set(columnsOf(name as Table));
    const column = columns.find((one) => !own.has(one));
    if (column !== undefined) throw new BadArchive(`The archive has a column ${name}.${column}: it was made ${newer}.`);
  }
  if (known.has('companies')) throw new BadArchive('The archive has no company.');
}

const open = (zip: ZipFile, entry: Entry): Promise<Readable> => zip.openReadStreamPromise(entry);

async function* rowsOf(
  zip: ZipFile,
  entries: Map<string, Entry>,
  { tables }: Manifest,
  table: Table,
): AsyncGenerator<{ line: number; row: Row }> {
  const said = tables.find(({ name }) => name === table);
  // An older version did not have it.
  if (!said) return;
  const file = `${table}.jsonl`;
  const columns = new Set(said.columns);
  const hash = createHash('sha256');
  let line = 0;
  const where = () => `${file}, line ${line}`;
  try {
    for await (const text of linesOf(await open(zip, entries.get(file)!), (chunk) => hash.update(chunk), file)) {
      line += 1;
      const row = parseJson(text);
      if (typeof row !== 'object' || row === null || Array.isArray(row))
        throw new BadArchive(`${where()} is no JSON object.`);
      const names = Object.keys(row);
      if (names.length !== columns.size || !names.every((name) => columns.has(name)))
        throw new BadArchive(`${where()} does not have the columns that the manifest lists.`);
      yield { line, row: row as Row };
    }
  } catch (error) {
    throw asBadArchive(error, `${file} is damaged`);
  }
  if (line !== said.rows || hash.digest('hex') !== said.sha256)
    throw new BadArchive(`${file} is not as it was written: its manifest says ${said.rows} rows and another checksum.`);
}

/** Lines end with a line feed only: a text may hold other characters that are line ends in Unicode. */
async function* linesOf(source: Readable, onChunk: (chunk: Buffer) => unknown, file: string): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let size = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    onChunk(chunk);
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)]).toString();
      rest = [];
      size = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    rest.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > lineBytesMax) throw new BadArchive(`${file} has a line of more than ${lineBytesMax} bytes.`);
  }
  if (rest.length > 0) throw new BadArchive(`${file} ends within a line.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
