import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import { ZipFile } from 'yazl';
import type { Actor } from './actor.ts';
import type { Service } from './service.ts';

/** The files of an archive by name. */
export type Files = Map<string, string>;

export async function readZip(bytes: Buffer): Promise<Files> {
  const zip = await yauzl.fromBufferPromise(bytes);
  const files = new Map<string, string>();
  for await (const entry of zip.eachEntry())
    files.set(entry.fileName, (await buffer(await zip.openReadStreamPromise(entry))).toString());
  return files;
}

/** Gets what is at the address of a file. */
export const fetchFile = (service: Service, { url }: { url: string }, init?: RequestInit): Promise<Response> =>
  fetch(`${service.url}${new URL(url).pathname}`, init);

/** Has an export made; answers its file. */
export async function exportFile(service: Service, admin: Actor, userId: number | null = null): Promise<Buffer> {
  const asked = await admin.post('/api/exports/', { userId });
  await service.drain();
  const { body } = await admin.get(`/api/exports/${asked.body._id}/`);
  const file = await fetchFile(service, body);
  await admin.delete(`/api/exports/${asked.body._id}/`);
  return Buffer.from(await file.arrayBuffer());
}

export async function zipOf(files: Files): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, text] of files) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  return buffer(zip.outputStream);
}

export const rowsOf = (files: Files, table: string): Record<string, unknown>[] =>
  files
    .get(`${table}.jsonl`)!
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

type Row = Record<string, unknown>;

/** The files with other rows of a table, and a manifest that says so. */
export function withRows(first: Files, table: string, rows: Row[]): Files {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const sha256 = createHash('sha256').update(text).digest('hex');
  return described(first, table, (said) => ({ ...said, rows: rows.length, sha256 })).set(`${table}.jsonl`, text);
}

type Said = { name: string; columns: string[]; rows: number; sha256: string };

/** The files with a manifest that says something else of a table. */
export function described(first: Files, table: string, change: (said: Said) => Said): Files {
  const manifest = JSON.parse(first.get('manifest.json')!);
  manifest.tables = manifest.tables.map((said: Said) => (said.name === table ? change(said) : said));
  return new Map(first).set('manifest.json', JSON.stringify(manifest));
}
