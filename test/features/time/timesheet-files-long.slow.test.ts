import { sql } from 'kysely';
import readExcelFile from 'read-excel-file/node';
import { getDocumentProxy } from 'unpdf';
import { expect, test } from 'vitest';
import { addCrowd } from '../../support/crowd.ts';
import { createDownload } from '../../support/download.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* A timesheet of many people and days as a file. Its contents are in timesheet-files.test.ts. */

const timeout = 120_000;
const service = await startService();
const download = createDownload(service);
const people = 120;
const days = 180;
const boss = await service.registerCompany();
const work = await startWork(boss);
const { db } = service.database;
await addCrowd(db, { companyId: boss.companyId, ...work, people, firstDay: '2026-01-05', days });
const path = `/api/timesheets/${boss.companyId}/?from=2026-01-01&to=2026-12-31`;

/** The whole file; says what it took. */
async function measured(format: string): Promise<Buffer> {
  let heap = 0;
  const timer = setInterval(() => (heap = Math.max(heap, process.memoryUsage().heapUsed)), 20);
  const before = process.memoryUsage().heapUsed;
  const at = performance.now();
  const { bytes, isComplete } = await download(boss, `${path}&format=${format}`);
  clearInterval(timer);
  const [milliseconds, grown] = [Math.round(performance.now() - at), Math.round((heap - before) / 1e6)];
  process.stdout.write(
    `${people * days} rows as ${format}: ${bytes.length} bytes in ${milliseconds} ms, the heap grew by ${grown} MB\n`,
  );
  expect([isComplete, grown < 150]).toEqual([true, true]);
  return bytes;
}

test('a long timesheet comes whole as a workbook, and needs memory for a part of it', { timeout }, async () => {
  const [sheet] = await readExcelFile(await measured('xlsx'));
  const rows = sheet!.data as (string | number | Date)[][];
  expect(rows).toHaveLength(people * days + 2);
  expect(rows.at(-1)).toEqual(['Total', null, null, people * days * 5400, people * days * 1.5]);
  const places = rows.slice(1, -1).map((row) => `${row[0] as number} ${(row[2] as Date).toISOString()}`);
  expect(new Set(places).size).toBe(people * days);
});

test('a long timesheet comes whole as pages, and needs memory for a part of it', { timeout }, async () => {
  const file = await getDocumentProxy(new Uint8Array(await measured('pdf')));
  // From a Monday on, and the last week is not whole.
  expect(file.numPages).toBe(people * Math.ceil(days / 7));
});

test(
  'a long timesheet begins before all of it is read, and is cut off where it cannot go on',
  { timeout },
  async () => {
    const rename = (from: string, to: string) =>
      sql`alter function ${sql.ref(from)}(date, text) rename to ${sql.ref(to)}`.execute(db);
    const breakDays = () => rename('local_day_start', 'local_day_start_away');
    const { bytes, isComplete } = await download(boss, `${path}&format=pdf`, breakDays);
    await rename('local_day_start_away', 'local_day_start');
    expect(isComplete).toBe(false);
    expect(bytes.toString('latin1')).toMatch(/^%PDF-/);
    expect(bytes.toString('latin1')).not.toContain('%%EOF');
    expect(service.log()).toContain('an answer broke off');
  },
);
