import { buffer } from 'node:stream/consumers';
import { parse } from 'csv-parse/sync';
import { readXlsx } from 'hucre/xlsx';
import readExcelFile from 'read-excel-file/node';
import { extractText, getDocumentProxy } from 'unpdf';
import { describe, expect, test } from 'vitest';
import { xlsxPieces } from '../../../server/kernel/wire/xlsx.ts';
import { pdfPieces } from '../../../server/features/timesheets/pdf.ts';
import { errorOf, type Actor } from '../../support/actor.ts';
import { createDownload } from '../../support/download.ts';
import { logHours, monday, setPolicy, submit } from '../../support/periods.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

/*
 * A timesheet as a workbook has what the CSV has, and nothing in it is run as a formula. As a PDF it has a page for each
 * person and period, to be signed.
 */

const service = await startService();
const download = createDownload(service);
const companyName = 'Größe & Partner';
const admin = await service.registerCompany({ firstName: 'Ada', name: companyName });
const greek = await service.addEmployee(admin, { first_name: 'Ελένη', last_name: 'Παπαδοπούλου' });
const polish = await service.addEmployee(admin, { first_name: '=Łucja', last_name: 'Żółć' });
const leader = await service.addEmployee(admin, { first_name: 'Grace', last_name: 'Hopper', isTeamLeader: true });
const neighbour = await service.registerCompany();
const { projectId, taskId } = await startWork(admin, { name: '@Müller & Söhne, "Nord" <x>' });
const other = await startWork(admin, { name: '-Строительство' });
const range = 'from=2026-03-01&to=2026-03-31';
const pathOf = (query: string, companyId = admin.companyId) => `/api/timesheets/${companyId}/?${range}&${query}`;
const groupings = ['day', 'week', 'project', 'task', 'employee'] as const;

await admin.put(`/api/rates/${admin.companyId}/`, {
  validFrom: '2020-01-01',
  hourlyRate: { minorUnits: 3333, currency: 'EUR' },
});
await admin.put(`/api/rates/${admin.companyId}/`, {
  project_id: other.projectId,
  validFrom: '2020-01-01',
  hourlyRate: { minorUnits: 1234, currency: 'JPY' },
});
await admin.patch(`/api/tasks/${await addTask(admin, projectId)}/`, { title: '=1+1' });
for (const actor of [admin, greek, polish]) {
  await logHours(actor, taskId, monday, '09', '10', { end_time: `${monday}T10:10:00Z` });
  await logHours(actor, other.taskId, '2026-03-04', '11', '13');
  await logHours(actor, taskId, '2026-03-12', '09', '17');
}

async function xlsxOf(actor: Actor, query: string): Promise<(string | number | Date | null)[][]> {
  const { status, bytes, isComplete } = await download(actor, pathOf(`format=xlsx&${query}`));
  expect([status, isComplete]).toEqual([200, true]);
  const [sheet] = await readExcelFile(bytes, { trim: false });
  expect(sheet!.sheet).toBe('Timesheet');
  return sheet!.data as (string | number | Date | null)[][];
}

const csvOf = async (actor: Actor, query: string): Promise<string[][]> =>
  parse((await download(actor, pathOf(`format=csv&${query}`))).bytes, { bom: true });

const formula = /^[=+\-@]/;
/** A cell as the CSV writes it, and its type. */
const toText = (cell: string | number | Date | null): string => {
  if (cell === null) return '';
  if (cell instanceof Date) return cell.toISOString().slice(0, 10);
  return typeof cell === 'string' && formula.test(cell) ? `'${cell}` : String(cell);
};

describe('a timesheet as a workbook', () => {
  test.each(groupings)('has by %s cell for cell what the CSV has', async (groupBy) => {
    for (const query of [`groupBy=${groupBy}`, `groupBy=${groupBy}&amounts=true`]) {
      const rows = await xlsxOf(admin, query);
      expect(rows.map((row) => row.map(toText))).toEqual(await csvOf(admin, query));
      expect(rows.length).toBeGreaterThan(3);
    }
  });

  test('has numbers as numbers, days as dates and money in whole units', async () => {
    const [names, ...rows] = await xlsxOf(admin, `amounts=true&userId=${greek.employeeId}`);
    const named = [greek.employeeId, 'Ελένη Παπαδοπούλου'];
    expect(names).toEqual(['userId', 'name', 'date', 'seconds', 'hours', 'amount EUR', 'amount JPY']);
    expect(rows).toEqual([
      [...named, new Date(`${monday}T00:00:00Z`), 4200, 1.17, 38.89, null],
      [...named, new Date('2026-03-04T00:00:00Z'), 7200, 2, null, 2468],
      [...named, new Date('2026-03-12T00:00:00Z'), 28_800, 8, 266.64, null],
      ['Total', null, null, 40_200, 11.17, 305.53, 2468],
    ]);
  });

  test('keeps its head in sight, and shows hours and each currency with their decimals', async () => {
    const { bytes } = await download(admin, pathOf('format=xlsx&amounts=true'));
    const { sheets } = await readXlsx(bytes, { readStyles: true });
    expect(sheets[0]!.freezePane).toMatchObject({ rows: 1 });
    const shown = ['C2', 'E2', 'F2', 'G2', 'B2'].map((place) => {
      const column = place.codePointAt(0)! - 'A'.codePointAt(0)!;
      return sheets[0]!.cells?.get(`1,${column}`)?.style?.numFmt;
    });
    expect(shown).toEqual(['yyyy-mm-dd', '0.00', '0.00', '0', '@']);
  });

  test('has no formula in what people wrote: such names are text', async () => {
    const rows = await xlsxOf(admin, 'groupBy=task');
    expect(rows.flat()).toEqual(expect.arrayContaining(['@Müller & Söhne, "Nord" <x>', '-Строительство']));
    expect((await xlsxOf(admin, 'groupBy=employee')).flat()).toContain('=Łucja Żółć');
    const { bytes } = await download(admin, pathOf('format=xlsx'));
    const { sheets } = await readXlsx(bytes);
    expect([...(sheets[0]!.cells?.values() ?? [])].filter((cell) => cell.formula !== undefined)).toEqual([]);
  });

  test('has its columns and a total where there is no time', async () => {
    const path = `/api/timesheets/${admin.companyId}/?from=2020-01-01&to=2020-01-01&format=xlsx`;
    const [sheet] = await readExcelFile((await download(admin, path)).bytes);
    expect(sheet!.data).toEqual([
      ['userId', 'name', 'date', 'seconds', 'hours'],
      ['Total', null, null, 0, 0],
    ]);
  });
});

/** The text of each page. */
async function readPages(bytes: Buffer): Promise<string[]> {
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: false });
  return text.map((page) => page.replaceAll(/\s+/g, ' '));
}

async function printed(actor: Actor, path: string): Promise<string[]> {
  const { status, bytes, isComplete } = await download(actor, `${path}&format=pdf`);
  expect([status, isComplete]).toEqual([200, true]);
  return readPages(bytes);
}

const pathFrom = (from: string, to: string, companyId = admin.companyId) =>
  `/api/timesheets/${companyId}/?from=${from}&to=${to}`;

describe('a timesheet as pages', () => {
  test('lets others have their turns while many lines of one person are laid out', async () => {
    const count = 5_000;
    let turns = 0;
    let isLaidOut = false;
    const countTurns = () => {
      turns += 1;
      if (!isLaidOut) setImmediate(countTurns);
    };
    async function* sheets() {
      const line = {
        date: '2026-03-02',
        project: 'Engine',
        task: 'Cutting gears for the mill',
        seconds: 60,
        hours: 0.02,
      };
      countTurns();
      yield {
        person: { userId: 7, name: 'Ada Lovelace' },
        firstDay: '2026-03-01',
        lastDay: '2026-03-31',
        from: '2026-03-01',
        to: '2026-03-31',
        states: [],
        lines: Array.from({ length: count }, () => line),
      };
    }
    const about = {
      company: 'Engines',
      from: '2026-03-01',
      to: '2026-03-31',
      groupBy: 'task',
      project: undefined,
    } as const;
    const pieces = pdfPieces({ ...about, sheets: sheets(), at: service.clock.now() });
    await pieces.next();
    isLaidOut = true;
    await pieces.return(undefined);
    expect(turns).toBeGreaterThan(count / 500);
  });

  test('has one for each person and week, in their order, each to be signed by two', async () => {
    const pages = await printed(admin, pathOf(''));
    const heads = pages.map((page) => /Employee (.+) \(no\. (\d+)\) Period (\S+ to \S+)/.exec(page)!.slice(1));
    const people = [
      ['=Łucja Żółć', `${polish.employeeId}`],
      [admin.name, `${admin.employeeId}`],
      ['Ελένη Παπαδοπούλου', `${greek.employeeId}`],
    ];
    const weeks = ['2026-03-02 to 2026-03-08', '2026-03-09 to 2026-03-15'];
    expect(heads).toEqual(people.flatMap((person) => weeks.map((week) => [...person, week])));
    for (const [index, page] of pages.entries()) {
      expect(page).toContain(`${companyName} Timesheet Employee`);
      expect(page).toMatch(/ Total \d+\.\d\d /);
      expect(page).toContain(` Employee: ${people[Math.floor(index / 2)]![0]} Date Approver Date`);
      expect(page).not.toContain('Page 1');
    }
  });

  const [engine, site] = ['@Müller & Söhne, "Nord" <x>', '-Строительство'];
  test.each([
    ['day', 'Date Hours 2026-03-02 1.17 2026-03-04 2.00 Total 3.17'],
    ['week', 'Week Mon Tue Wed Thu Fri Sat Sun Hours 2026-W10 1.17 0.00 2.00 0.00 0.00 0.00 0.00 3.17 Total 3.17'],
    ['project', `Date Project Hours 2026-03-02 ${engine} 1.17 2026-03-04 ${site} 2.00 Total 3.17`],
    [
      'task',
      `Date Task Project Hours 2026-03-02 Turn the crank ${engine} 1.17 2026-03-04 Turn the crank ${site} 2.00 Total 3.17`,
    ],
    ['employee', 'Employee Hours Ελένη Παπαδοπούλου 3.17 Total 3.17'],
  ])('has by %s the time of the period and its total', async (groupBy, table) => {
    const [first] = await printed(admin, pathOf(`groupBy=${groupBy}&userId=${greek.employeeId}`));
    expect(first).toContain(` ${table} `);
  });

  test('has a column for each currency that is on the page, and sums in minor units', async () => {
    const pages = await printed(admin, pathOf(`amounts=true&userId=${greek.employeeId}`));
    expect(pages[0]).toContain('Date Hours EUR JPY 2026-03-02 1.17 38.89 2026-03-04 2.00 2468 Total 3.17 38.89 2468');
    expect(pages[1]).toContain('Date Hours EUR 2026-03-12 8.00 266.64 Total 8.00 266.64');
    const [whole] = await printed(admin, pathFrom(monday, monday));
    expect(whole).not.toContain('EUR');
  });

  test('says the days of a period that is cut, and the project where only its time is there', async () => {
    const pages = await printed(admin, `${pathFrom('2026-03-04', '2026-03-31')}&projectId=${other.projectId}`);
    expect(pages).toHaveLength(3);
    for (const page of pages)
      expect(page).toContain(
        'Period 2026-03-02 to 2026-03-08 Days 2026-03-04 to 2026-03-08 only Project -Строительство only Status open',
      );
  });

  test('follows the policy, and says the state of the period', async () => {
    const boss = await service.registerCompany();
    const worker = await service.addEmployee(boss, { first_name: 'Joan', last_name: 'Clarke' });
    await logHours(worker, (await startWork(boss)).taskId, monday);
    const statusOf = async () => /Status (.+?) Date/.exec((await printed(boss, pathOf('', boss.companyId)))[0]!)![1];
    expect(await statusOf()).toBe('open');
    await setPolicy(boss, { requireApproval: true });
    const { _id } = (await submit(worker)).body;
    expect(await statusOf()).toBe('submitted');
    const decided = await boss.post('/api/timesheet-periods/decide/', {
      period_ids: [_id],
      decision: 'approve',
    });
    expect(decided).toMatchObject({ status: 200 });
    const approved = `approved by ${boss.name} on ${service.clock.now().toISOString().slice(0, 10)}`;
    expect(await statusOf()).toBe(approved);
    await setPolicy(boss, { period: 'month' });
    const pages = await printed(boss, pathOf('', boss.companyId));
    expect(pages).toEqual([
      expect.stringContaining(`Period 2026-03-01 to 2026-03-31 Status 2026-03-02 to 2026-03-08 ${approved} Date`),
    ]);
  });

  test('goes on on another page under the same heading, and is signed on the last', async () => {
    const boss = await service.registerCompany();
    await setPolicy(boss, { period: 'month' });
    const work = await startWork(boss);
    const count = 20;
    for (let number = 1; number <= count; number += 1) {
      const task = await addTask(boss, work.projectId);
      await boss.patch(`/api/tasks/${task}/`, { title: `No. ${number} ${'of a long title '.repeat(10)}` });
      await logHours(boss, task, `2026-03-${String(number).padStart(2, '0')}`);
    }
    const pages = await printed(boss, pathOf('groupBy=task', boss.companyId));
    expect(pages.length).toBeGreaterThan(1);
    for (const [index, page] of pages.entries()) {
      expect(page).toContain(
        `${boss.name} (no. ${boss.employeeId}) Period 2026-03-01 to 2026-03-31 Status open Date Task Project Hours`,
      );
      expect(page).toContain(`Page ${index + 1} of ${pages.length}`);
    }
    const isLast = pages.map((_, index) => index === pages.length - 1);
    expect(pages.map((page) => page.includes('Approver'))).toEqual(isLast);
    expect(pages.map((page) => page.includes(`Total ${count}.00`))).toEqual(isLast);
    expect(pages.filter((page) => !page.includes('No. '))).toEqual([]);
    const numbers = pages.flatMap((page) => [...page.matchAll(/No\. (\d+) of/g)].map(([, number]) => Number(number)));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  });

  test('is one page where there is no time', async () => {
    expect(await printed(admin, pathFrom('2020-01-01', '2020-01-31'))).toEqual([
      `${companyName} Timesheet Days 2020-01-01 to 2020-01-31 No time was logged on these days.`,
    ]);
  });

  test('embeds of its fonts what it needs', async () => {
    const { bytes } = await download(admin, pathOf('format=pdf'));
    expect(bytes.length).toBeLessThan(60_000);
    expect(bytes.toString('latin1').match(/\/FontFile2/g)).toHaveLength(2);
  });
});

describe.each([
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'PK'],
  ['pdf', 'application/pdf', '%PDF-'],
])('a timesheet as %s', (format, mediaType, magic) => {
  test('is a file with a name, and is not compressed twice', async () => {
    const { headers, bytes } = await download(admin, pathOf(`format=${format}&groupBy=week`));
    expect(headers).toMatchObject({
      'content-type': mediaType,
      'content-disposition': `attachment; filename="timesheet_2026-03-01_2026-03-31_by_week.${format}"`,
      'cache-control': 'no-store',
    });
    expect(headers['content-encoding']).toBeUndefined();
    expect(bytes.toString('latin1').startsWith(magic)).toBe(true);
    const compressing = await admin.send('GET', pathOf(`format=${format}`), undefined, {
      headers: { 'accept-encoding': 'br, gzip' },
    });
    expect(compressing.headers.get('content-encoding')).toBeNull();
    const head = await admin.send('HEAD', pathOf(`format=${format}&groupBy=week`));
    expect([head.status, head.headers.get('content-type'), head.body]).toEqual([200, mediaType, '']);
  });

  test('is for those who may have the CSV', async () => {
    const query = `format=${format}`;
    expect(errorOf(await neighbour.get(pathOf(query)))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await service.anonymous.get(pathOf(query)))).toMatchObject({ status: 401 });
    expect(errorOf(await greek.get(pathOf(`${query}&userId=${admin.employeeId}`)))).toMatchObject({ status: 403 });
    for (const actor of [greek, leader])
      expect(errorOf(await actor.get(pathOf(`${query}&amounts=true`)))).toMatchObject({ code: 'ADMIN_REQUIRED' });
    expect((await leader.get(pathOf(`${query}&userId=${greek.employeeId}`))).status).toBe(200);
    expect(errorOf(await admin.get(`${pathOf(query)}&to=2026-02-01`))).toMatchObject({ status: 400 });
  });

  test('is a row of the audit log, and its headers alone are none', async () => {
    await download(admin, pathOf(`format=${format}&groupBy=project&projectId=${projectId}`));
    expect((await admin.send('HEAD', pathOf(`format=${format}`))).status).toBe(200);
    const { body } = await admin.get(`/api/audit/company/${admin.companyId}/?limit=1`);
    expect(body.results[0]).toMatchObject({
      operation: 'timesheets.get',
      changes: [{ event: 'file.exported', after: { groupBy: 'project', projectId, format } }],
    });
  });

  test('is asked for over REST alone', async () => {
    const asked = { company_id: admin.companyId, from: monday, to: monday, format } as never;
    await expect(admin.trpc.timesheets.get.query(asked)).rejects.toMatchObject({
      message: expect.stringContaining('format'),
    });
  });

  test('comes five times at once', async () => {
    const files = await Promise.all(Array.from({ length: 5 }, () => download(admin, pathOf(`format=${format}`))));
    expect(files.map(({ status, isComplete }) => `${status} ${isComplete}`)).toEqual(Array(5).fill('200 true'));
  });
});

describe('a workbook that is being written', () => {
  const columns = [{ name: 'n', format: '0', isDate: false }];
  /** Counts what is read of it, until `failsAt`. */
  function source(failsAt = Infinity) {
    const seen = { batches: 0, isOver: false };
    async function* batches() {
      try {
        for (; seen.batches < 1_000;) {
          if (seen.batches === failsAt) throw new Error('the database went away');
          seen.batches += 1;
          yield Array.from({ length: 1_000 }, () => [Math.random()]);
        }
      } finally {
        seen.isOver = true;
      }
    }
    return { seen, pieces: xlsxPieces({ name: 'Sheet', columns, batches: batches(), lastRow: () => [0] }) };
  }

  test('has begun before its rows are read, and stops with its reader', async () => {
    const { seen, pieces } = source();
    for await (const piece of pieces) if (piece.length > 0) break;
    expect(seen.isOver).toBe(true);
    expect(seen.batches).toBeLessThan(100);
  });

  test('fails before its first byte where no row can be read, and later where the next one cannot', async () => {
    await expect(source(0).pieces.next()).rejects.toThrow('the database went away');
    const { seen, pieces } = source(60);
    expect((await pieces.next()).done).toBe(false);
    await expect(buffer(pieces)).rejects.toThrow('the database went away');
    expect(seen.isOver).toBe(true);
  });
});
