import { expect, test } from 'vitest';
import { readWork, togglFile } from '../support/csv-imports.ts';
import { startService } from '../support/service.ts';
import { givenFile, runScript, settingsOf } from './run-script.ts';

const service = await startService();
const admin = await service.registerCompany();
const settings = await settingsOf(service, admin);
const grace = await service.addEmployee(admin);

const stated = ['--source', 'toggl', '--time-zone', 'Europe/Berlin', '--date-order', 'YMD'];
const runImport = (parameters: string[], given = settings) => runScript('import-csv.ts', parameters, given);

const report = (file: string, rows: string, counts: number[], places: string[] = []) =>
  [
    `${file}: ${rows}`,
    ...['projects', 'tasks', 'logs', 'imported before', 'without time', 'with errors'].map(
      (what, index) => `  ${what.padEnd(15)} ${String(counts[index]).padStart(6)}`,
    ),
    ...places.map((place) => `  ${place}`),
    '',
  ].join('\n');

test('says what a file would do, does it once with --yes, and skips what is there', async () => {
  const file = await givenFile('time.csv', togglFile(grace.email, [{}, { 'Start time': '09:30', User: 'x' }]));
  const foreseen = report('time.csv', '2 rows', [1, 1, 2, 0, 0, 0], ['Engine (new): 1 new task, 2 logs']);
  expect(await runImport([...stated, file])).toEqual({
    code: 0,
    stdout: foreseen,
    stderr: 'Nothing was imported: --yes does it.\n',
  });
  expect((await readWork(service, admin)).projects).toEqual([]);
  expect(await runImport([...stated, '--yes', file])).toEqual({ code: 0, stdout: foreseen, stderr: '' });
  const { projects, logs } = await readWork(service, admin);
  expect(logs.map((log) => log.start_time.toISOString())).toEqual([
    '2026-03-02T08:00:00.000Z',
    '2026-03-02T08:30:00.000Z',
  ]);

  const mapped = ['--project', `Loom=${projects[0]!.project_id}`, '--person', `a=b=${grace.employeeId}`];
  const more = await givenFile(
    'more.csv',
    togglFile('', [{ Email: grace.email }, { User: 'a=b', Project: 'Loom', 'Start time': '09:45' }]),
  );
  const again = await runImport([...stated, ...mapped, '--yes', '--json', more]);
  expect(JSON.parse(again.stdout)).toMatchObject({
    file: 'more.csv',
    dry_run: false,
    created: { projects: 0, tasks: 0, logs: 1 },
    skipped: { imported: 1 },
  });
});

test('imports nothing where rows are wrong, or the others with --skip-errors', async () => {
  const day = (date: string) => ({ 'Start date': date, 'End date': date });
  const rows = [day('28/02/2026'), day('27/02/2026'), { ...day('03/02/2026'), Billable: '\u001B[31m' }];
  const file = await givenFile('wrong.csv', togglFile(grace.email, rows));
  const refused = await runImport([...stated, '--yes', file]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('line 2: Start date is no date in the order YMD, from 1970 on: "28/02/2026"\n');
  expect(refused.stderr).toContain('line 4: Billable is neither Yes nor No: "\u{fffd}[31m"\n');
  expect(refused.stderr).toMatch(
    /All dates fit --date-order DMY, and not YMD\.\nNothing was imported: correct these rows/,
  );
  const european = [...stated.slice(0, 4), '--date-order', 'DMY'];
  const { code, stdout } = await runImport([...european, '--yes', '--skip-errors', file]);
  expect([code, stdout]).toEqual([
    1,
    report('wrong.csv', '3 rows', [0, 0, 2, 0, 0, 1], ['Engine: 0 new tasks, 2 logs']),
  ]);
});

test('refuses what cannot be meant before anything is sent', async () => {
  const file = await givenFile('latin.csv', Buffer.from('Project\nM\u00E4rz\n', 'latin1'));
  const none = await givenFile('none.csv', 'a,b\n');
  expect(await runImport([...stated, file])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not UTF-8'),
  });
  expect(await runImport([...stated, none])).toMatchObject({ code: 1, stderr: 'csv.1 has no column Project\n' });
  expect(await runImport([...stated, 'absent.csv'])).toMatchObject({ code: 1, stderr: 'There is no absent.csv.\n' });
  for (const [parameters, sentence] of [
    [[none], '--time-zone says where'],
    [[...stated.slice(0, 4), none], '--date-order takes one of DMY, MDY, YMD'],
    [[...stated.slice(2), none], '--source takes one of'],
    [[...stated, '--status', 'Doing=busy', none], '--status takes one of todo'],
    [[...stated, '--person', 'Jane', none], '--person takes a name'],
  ] as const)
    expect(await runImport([...parameters])).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  const plain = await runImport(
    [...stated, await givenFile('mine.csv', togglFile(grace.email, [{}]))],
    await settingsOf(service, grace),
  );
  expect(plain).toMatchObject({ code: 1, stderr: 'Only an admin of the company may do this.\n' });
});
