import { describe, expect, test } from 'vitest';
import type { Answer } from '../../support/actor.ts';
import { importCsv, readWork, sampleFile, togglFile, type ImportInput } from '../../support/csv-imports.ts';
import { startService } from '../../support/service.ts';

/* What rows and files of each source are refused for, and in which words. Nothing here is ever stored. */

const service = await startService();
const admin = await service.registerCompany();
const grace = await service.addEmployee(admin, {
  first_name: 'Grace',
  last_name: 'Hopper',
  email: 'grace@example.com',
});

const berlin = { time_zone: 'Europe/Berlin' };
const dryRun = (csv: string, input: ImportInput = {}): Promise<Answer> =>
  importCsv(admin, csv, { ...berlin, ...input, dry_run: true });

/** The errors of a file as sentences. */
async function sentencesOf(csv: string, input?: ImportInput): Promise<string[]> {
  const { status, body } = await dryRun(csv, input);
  if (status !== 200) return [body.detail];
  return body.errors.map((one: { line: number; column: string | null; message: string }) =>
    [one.line, one.column, one.message].filter((part) => part !== null).join(' '),
  );
}

const at = (day: string, start: string, end: string, Duration = '', endDay = day) => ({
  'Start date': day,
  'Start time': start,
  'End date': endDay,
  'End time': end,
  Duration,
});

describe('a row of Toggl', () => {
  test.each([
    ['overnight', at('2026-03-02', '22:00:00', '06:00:00', '08:00:00', '2026-03-03'), []],
    ['of a day', at('2026-03-02', '09:00', '09:00', '24:00:00', '2026-03-03'), []],
    [
      'of more than a day',
      at('2026-03-02', '09:00:00', '11:03:00', '26:03:00', '2026-03-03'),
      ['2 End time must be at most 24 hours after the start'],
    ],
    [
      'of 600 hours',
      at('2026-03-02', '09:00:00', '09:00:00', '600:00:00', '2026-03-27'),
      ['2 End time must be at most 24 hours after the start'],
    ],
    [
      'of 600 hours by its duration alone',
      at('2026-03-02', '09:00:00', '', '600:00:00', ''),
      ['2 Start time must be at most 24 hours after the start'],
    ],
    ['with a duration alone', at('2026-03-02', '09:00:00', '', '1,5', ''), []],
    ['that ends before it starts', at('2026-03-02', '10:00', '09:00'), ['2 End time must be after the start']],
    ['of negative duration', at('2026-03-02', '10:00', '11:00', '-1:00:00'), ['2 Duration is negative: "-1:00:00"']],
    [
      'that runs',
      at('2026-03-02', '10:00', '', '', ''),
      ['2 Start time has neither an end nor a duration: stop what is still running, and export it again'],
    ],
    [
      'whose duration is another one',
      at('2026-03-02', '10:00', '11:00', '00:30:00'),
      ['2 Duration is "00:30:00", and 60 minutes are between start and end'],
    ],
    ['whose duration is rounded', at('2026-03-02', '10:00:00', '10:59:31', '01:00:00'), []],
    ['in the far future', at('2126-03-02', '10:00', '11:00'), ['2 End time must be at most a day in the future']],
    [
      'at a time that clocks skip',
      at('2026-03-29', '02:30', '04:00'),
      ['2 Start time does not exist on 2026-03-29 in Europe/Berlin: the clocks were put forward'],
    ],
    [
      'until a time that clocks skip',
      at('2026-03-29', '01:30', '02:30'),
      ['2 End time does not exist on 2026-03-29 in Europe/Berlin: the clocks were put forward'],
    ],
    ['over the hour that clocks skip', at('2026-03-29', '01:30', '03:30', '01:00:00'), []],
    ['over the hour that is there twice', at('2025-10-26', '01:30', '03:30', '03:00:00'), []],
    ['that its duration puts into the second of two hours', at('2025-10-26', '01:30', '02:30', '02:00:00'), []],
    ['from the first of two hours to the second', at('2025-10-26', '02:45', '02:15', '00:30:00'), []],
    [
      'within one of two hours',
      at('2025-10-26', '02:15', '02:45', '00:30:00'),
      [
        '2 Start time is there twice in Europe/Berlin, as the clocks were put back, and the duration does not say which is meant',
      ],
    ],
    [
      'until one of two hours without a duration',
      at('2025-10-26', '01:15', '02:45'),
      [
        '2 Start time is there twice in Europe/Berlin, as the clocks were put back, and the duration does not say which is meant',
      ],
    ],
    ['that is a formula', { Description: '=HYPERLINK(""http://x"")', Project: '+1', Task: '@SUM(A1)' }, []],
    ['with a NUL', { Description: 'a\0b' }, ['2 Description has a NUL character']],
    [
      'that was read in another encoding',
      { Project: 'K\uFFFDln' },
      ['2 Project has characters that are lost: the file was not read as UTF-8'],
    ],
    [
      'with half a character',
      { Task: 'a\uD83D' },
      ['2 Task has characters that are lost: the file was not read as UTF-8'],
    ],
    ['that is neither billable nor not', { Billable: 'oui' }, ['2 Billable is neither Yes nor No: "oui"']],
    [
      'with a long name of its project',
      { Project: 'x'.repeat(201) },
      [`2 Project has 201 characters, and 200 are allowed: "${'x'.repeat(60)}…"`],
    ],
    [
      'with a long name of its client',
      { Project: 'x'.repeat(150), Client: 'y'.repeat(50) },
      ['2 Project has more than 200 characters with its client'],
    ],
    [
      'with a duration that is long',
      at('2026-03-02', '10:00', '11:00', `1h${' '.repeat(80_000)}x`),
      [`2 Duration has 80003 characters, and 320 are allowed: "1h${' '.repeat(58)}…"`],
    ],
    [
      'with a huge description',
      { Description: 'é'.repeat(10_001) },
      [`2 Description has 10001 characters, and 10000 are allowed: "${'é'.repeat(60)}…"`],
    ],
  ] as const)('%s is read so', async (_, cells, sentences) => {
    expect(await sentencesOf(togglFile(grace.email, [cells]))).toEqual(sentences);
  });

  test('is named by the line on which it begins', async () => {
    const late = { Billable: 'oui' };
    const csv = togglFile(grace.email, [
      { Description: 'one\r\ntwo\nthree' },
      late,
      { ...late, Description: '\n' },
      late,
    ]);
    expect(await sentencesOf(csv)).toEqual([5, 6, 8].map((line) => `${line} Billable is neither Yes nor No: "oui"`));
    expect(await sentencesOf(`\uFEFF\r\n${csv}`)).toEqual(
      [6, 7, 9].map((line) => `${line} Billable is neither Yes nor No: "oui"`),
    );
  });

  test('without time is left out, and counted', async () => {
    const csv = togglFile(grace.email, [
      at('2026-03-02', '10:00', '10:00', '0:00:00'),
      at('2026-03-02', '10:00', '', '0', ''),
    ]);
    expect((await dryRun(csv)).body).toMatchObject({ created: { projects: 0, logs: 0 }, skipped: { withoutTime: 2 } });
  });

  test('has only the columns that it needs', async () => {
    const csv =
      'Stop time;PROJECT;start  DATE;Start Time;Stop Date;Member\n11:00;Engine;02/03/26;10:00;02/03/26;Grace Hopper\n';
    expect((await dryRun(csv, { date_order: 'DMY' })).body).toMatchObject({ created: { logs: 1 }, errors: [] });
  });
});

describe('a row of Jira', () => {
  const file = (cells: Record<string, string>) => {
    const usual = { 'Issue key': 'ENG-1', Summary: 'Mill', 'Project key': 'ENG', Status: 'Open', ...cells };
    const names = Object.keys(usual).map((name) => name.replace(/ \d$/, ''));
    return `${names.join(',')}\n${Object.values(usual)
      .map((cell) => `"${cell}"`)
      .join(',')}\n`;
  };
  test.each([
    [
      'with work of many forms',
      { 'Log Work': 'a;b;02/Mar/26 9:00 AM;grace@example.com;60', 'Log Work 2': ';2/3/2026 15:42;Grace Hopper;86400' },
      [],
    ],
    ['with an ISO timestamp', { 'Log Work': ';2026-03-02T09:00:00.000+0100;grace@example.com;60' }, []],
    [
      'with work of nobody',
      { 'Log Work': ';02/03/26 9:00;5b10:ac8d;60' },
      ['2 Log Work names nobody of the company, "5b10:ac8d": say in `people` who is meant'],
    ],
    ['with work in three parts', { 'Log Work': '02/03/26 9:00;Grace Hopper;60' }, []],
    [
      'with work in two parts',
      { 'Log Work': 'Grace Hopper;60' },
      ['2 Log Work is not "comment;date;author;seconds": "Grace Hopper;60"'],
    ],
    [
      'with work in hours',
      { 'Log Work': ';02/03/26;Grace Hopper;1h' },
      ['2 Log Work is not "comment;date;author;seconds": ";02/03/26;Grace Hopper;1h"'],
    ],
    [
      'with work of 25 hours',
      { 'Log Work': ';02/03/26 9:00;Grace Hopper;90000' },
      ['2 Log Work ";02/03/26 9:00;Grace Hopper;90000": its end must be at most 24 hours after the start'],
    ],
    [
      'with work in an hour that is there twice',
      { 'Log Work': ';26/10/25 2:30 AM;Grace Hopper;60' },
      ['2 Log Work "26/10/25 2:30 AM" is there twice in Europe/Berlin: the clocks were changed'],
    ],
    [
      'with work of another order',
      { 'Log Work': ';03/26/25 9:00;Grace Hopper;60' },
      ['2 Log Work is no date in the order DMY, from 1970 on: "03/26/25"'],
    ],
    [
      'with work of a long date',
      { 'Log Work': `;02/03/26${' '.repeat(80_000)}9:00;Grace Hopper;60` },
      [`2 Log Work has 80012 characters, and 320 are allowed: "02/03/26${' '.repeat(52)}…"`],
    ],
    [
      'with work of an author of a long name',
      { 'Log Work': `;02/03/26 9:00;${'x'.repeat(321)};60` },
      [`2 Log Work has 321 characters, and 320 are allowed: "${'x'.repeat(60)}…"`],
    ],
    [
      'of an account with a long name',
      { 'Log Work': ';02/03/26 9:00;5b10:ac8d;60', 'Creator Id': '5b10:ac8d', Creator: 'x'.repeat(321) },
      ['2 Log Work names nobody of the company, "5b10:ac8d": say in `people` who is meant'],
    ],
    [
      'that is due and done on long dates, of a long name',
      { Status: 'Done', 'Due Date': 'x'.repeat(321), Resolved: 'y'.repeat(321), Assignee: 'z'.repeat(321) },
      [
        `2 Assignee has 321 characters, and 320 are allowed: "${'z'.repeat(60)}…"`,
        `2 Due Date has 321 characters, and 320 are allowed: "${'x'.repeat(60)}…"`,
        `2 Resolved has 321 characters, and 320 are allowed: "${'y'.repeat(60)}…"`,
      ],
    ],
    ['of an unknown status', { Status: 'Blocked' }, ['2 Status is not known, "Blocked": say in `statuses` what it is']],
    ['of an unknown status with a known category', { Status: 'Blocked', 'Status Category': 'In Progress' }, []],
    ['without a key', { 'Issue key': '' }, ['2 Issue key is empty']],
    ['without a project', { 'Project key': '' }, ['2 Project key is empty']],
    [
      'of nobody',
      { Assignee: 'Someone' },
      ['2 Assignee names nobody of the company, "Someone": say in `people` who is meant'],
    ],
    ['with an estimate in words', { 'Original Estimate': '1d' }, ['2 Original Estimate is no number of seconds: "1d"']],
    [
      'that is due on no day',
      { 'Due Date': '31/Feb/26' },
      ['2 Due Date is no date in the order DMY, from 1970 on: "31/Feb/26"'],
    ],
    [
      'with a month in German',
      { 'Due Date': '01/Mai/26' },
      ['2 Due Date is no date in the order DMY, from 1970 on: "01/Mai/26"'],
    ],
    ['with a long summary', { Summary: 'x'.repeat(296) }, ['2 Summary has more than 300 characters with its key']],
  ] as const)('%s is read so', async (_, cells, sentences) => {
    expect(await sentencesOf(file(cells), { source: 'jira', date_order: 'DMY' })).toEqual(sentences);
  });

  test('has a key of its own', async () => {
    const csv = file({}) + file({}).split('\n')[1]!;
    expect(await sentencesOf(csv, { source: 'jira' })).toEqual(['3 Issue key "ENG-1" is there in an earlier row']);
  });
});

describe('a row of Trello', () => {
  const row = (cells: string) => `Card ID,Card Name,List Name,Board Name,Members,Due Date,Archived\n${cells}\n`;
  test.each([
    ['of any list', 'c1,Brass,This week,Engine,,,', []],
    ['of members', 'c1,Brass,Doing,Engine,"Grace Hopper (gh), grace@example.com",2026-03-31,', []],
    [
      'of a stranger',
      'c1,Brass,Doing,Engine,"Grace Hopper, Bob (bob)",,',
      ['2 Members names nobody of the company, "Bob (bob)", "Bob", "bob": say in `people` who is meant'],
    ],
    [
      'of a member with a long name',
      `c1,Brass,Doing,Engine,"Grace Hopper, ${'x'.repeat(321)}",,`,
      [`2 Members has 321 characters, and 320 are allowed: "${'x'.repeat(60)}…"`],
    ],
    [
      'of members without an end',
      `c1,Brass,Doing,Engine,"${','.repeat(40_000)}",,`,
      [`2 Members has 40000 characters, and 32320 are allowed: "${','.repeat(60)}…"`],
    ],
    ['of a member in two brackets', 'c1,Brass,Doing,Engine,Bob (x) (grace@example.com),,', []],
    ['without an id', ',Brass,Doing,Engine,,,', ['2 Card ID is empty']],
    ['without a name', 'c1,,Doing,Engine,,,', ['2 Card Name is empty']],
    [
      'that is due in words',
      'c1,Brass,Doing,Engine,,tomorrow,',
      ['2 Due Date is no date in the order YMD, from 1970 on: "tomorrow"'],
    ],
    ['that is due on the last day of all', 'c1,Brass,Doing,Engine,,9999-12-31T22:59:59.000Z,', []],
    [
      'that is due after the last day of all',
      'c1,Brass,Doing,Engine,,9999-12-31T23:59:59.000Z,',
      ['2 Due Date is no day of the years 1 to 9999: "9999-12-31T23:59:59.000Z"'],
    ],
    ['with too few cells', 'c1,Brass,Doing', ['2 has 3 cells, and the first line has 7']],
    ['with too many cells', 'c1,Brass,Doing,Engine,,,,,x', ['2 has 9 cells, and the first line has 7']],
    ['with empty cells too many', 'c1,Brass,Doing,Engine,,,,,', []],
  ] as const)('%s is read so', async (_, cells, sentences) => {
    expect(await sentencesOf(row(cells), { source: 'trello' })).toEqual(sentences);
  });

  test('that is due before the first day of all is refused', async () => {
    const csv = row('c1,Brass,Doing,Engine,,0001-01-01T00:00:00Z,');
    expect(await sentencesOf(csv, { source: 'trello', time_zone: 'America/New_York' })).toEqual([
      '2 Due Date is no day of the years 1 to 9999: "0001-01-01T00:00:00Z"',
    ]);
  });
});

describe('a file', () => {
  const head = 'Project,Email,Start date,Start time,End date,End time';
  const good = 'Engine,grace@example.com,2026-03-02,09:00,2026-03-02,10:00';
  test.each([
    ['that is empty', ' \n\n', 'csv is empty: its first line must name the columns.'],
    ['of another source', sampleFile('trello.csv'), 'csv.1 has no column Project.'],
    ['without times', 'Project,Start date\nEngine,2026-03-02\n', 'csv.1 has no column Start time.'],
    ['in German', `Projekt,Startdatum\n${good}\n`, 'csv.1 has no column Project.'],
    ['with a column twice', `${head},PROJECT\n${good},Loom\n`, 'csv.1.PROJECT stands there more than once.'],
    [
      'with a column of two names twice',
      `${head},Stop time\n${good},11:00\n`,
      'csv.1.Stop time stands there more than once.',
    ],
    [
      'with an open quote',
      `${head}\n${good}\nEngine,"grace\n${good}\n`,
      'csv.3.Email opens a quote that is never closed.',
    ],
    [
      'with a quote inside',
      `${head}\n${good}\nEngine,"gr"ace\n`,
      'csv.3.Email has a quote inside a cell: a cell with a quote stands in quotes, and the quote in it is doubled.',
    ],
    [
      'with a lone quote',
      `${head}\n${good}\nEngine,gr"ace,\n`,
      'csv.3.Email has a quote inside a cell: a cell with a quote stands in quotes, and the quote in it is doubled.',
    ],
    ['of 1,001 columns', `${head}${',x'.repeat(995)}\n`, 'csv.1 has more than 1,000 columns.'],
    ['of 20,001 rows', `${head}\n${`${good}\n`.repeat(20_001)}`, 'csv has more than 20,000 rows: split it.'],
    ['of binary data', '\0\u0001PNG\r\n\0', 'csv.1 has no column Project.'],
  ])('%s is refused as a whole', async (_, csv, sentence) => {
    const { status, body } = await dryRun(csv, {});
    expect([status, body.code, body.detail]).toEqual([400, 'VALIDATION_FAILED', sentence]);
    expect((await importCsv(admin, csv, { skip_errors: true })).status).toBe(400);
  });

  test('is told of at most 1,000 names', async () => {
    const people = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`Person ${n}`, admin.employeeId]));
    const { body } = await dryRun(`${head}\n${good}\n`, { people });
    expect(body.issues).toMatchObject([{ path: ['people'], code: 'too_big' }]);
  });

  test('with a column twice has an issue that says so', async () => {
    const { body } = await dryRun(`${head},PROJECT\n${good},Loom\n`, {});
    expect(body.issues).toMatchObject([{ path: ['csv', 1, 'PROJECT'], code: 'duplicate' }]);
  });

  test('of 1,000 columns and empty lines is read', async () => {
    const csv = `\uFEFF${head}${',x'.repeat(994)}\r\n\r\n${good}${','.repeat(994)}\r\n,,,\r\n`;
    expect((await dryRun(csv)).body).toMatchObject({ rows: 1, created: { logs: 1 } });
  });

  test('of more than 500 projects is refused', async () => {
    const rows = (count: number) =>
      togglFile(
        grace.email,
        Array.from({ length: count }, (_, n) => ({ Project: `P${n}` })),
      );
    expect((await dryRun(rows(500))).body.created.projects).toBe(500);
    expect(await sentencesOf(rows(501))).toEqual(['csv has more than 500 projects: split it.']);
  });

  test('of more than 8 MiB is refused, and one of almost as much is read', async () => {
    const large = await dryRun(`${head}\n"${'x'.repeat(8 * 1024 * 1024)}`);
    expect(large).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
    expect(await sentencesOf(`${head}\n"${'x'.repeat(8 * 1024 * 1024 - 2_000)}`)).toEqual([
      'csv.2.Project opens a quote that is never closed.',
    ]);
    expect(await sentencesOf(`${head}\n${','.repeat(8 * 1024 * 1024 - 2_000)}`)).toEqual([]);
  });

  test('that is refused or only looked at leaves nothing behind', async () => {
    expect(await readWork(service, admin)).toEqual({ projects: [], tasks: [], logs: [] });
  });
});
