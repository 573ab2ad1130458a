import { describe, expect, test } from 'vitest';
import { commands } from '../../client-sdk/command/table.ts';
import { checkUrl } from '../../client-sdk/command/connect.ts';
import { flagsOf, parseFlags } from '../../client-sdk/command/flags.ts';
import { chooseByName } from '../../client-sdk/command/look-up.ts';
import { findNearest } from '../../client-sdk/command/nearest.ts';
import { Name } from '../../client-sdk/command/parse-value.ts';
import { readInput } from '../../client-sdk/command/read-input.ts';
import { givenFile } from '../examples/run-script.ts';

/* How a command line becomes the input of an operation. */

async function read(words: string, parameters: string[]): Promise<unknown> {
  const command = commands[words]!;
  return readInput(words, command, parseFlags(parameters, flagsOf(command)), async (field) => `asked for ${field}`);
}

describe('an input', () => {
  test('is read from flags by the types of its fields', async () => {
    const parameters = ['--project-id=7', '--title', 'Cut', '--collaborator-ids', '4', '--collaborator-ids', 'mei'];
    expect(await read('tasks create', [...parameters, '--estimated-hours', '1.5', '--no-due-date'])).toEqual({
      projectId: 7,
      title: 'Cut',
      collaboratorIds: [4, new Name('colleague', 'mei')],
      estimatedHours: 1.5,
      dueDate: null,
    });
    expect(await read('notifications list', ['--read', '--no-starred'])).toEqual({ read: true, starred: false });
  });

  test('is read from JSON, in place, in a file, and behind flags', async () => {
    const path = await givenFile('input.json', '{"title":"From the file","status":"done"}');
    expect(await read('tasks update', ['12', '--input', `@${path}`, '--status', 'todo'])).toEqual({
      task_id: 12,
      title: 'From the file',
      status: 'todo',
    });
    expect(await read('task-logs bulk-create', ['7', '--entries', '[{"taskId":1}]'])).toEqual({
      user_id: 7,
      entries: [{ taskId: 1 }],
    });
  });

  test('is read from files in UTF-8, and no letter of another encoding is lost', async () => {
    const written = (name: string, text: string, encoding: BufferEncoding) =>
      givenFile(name, Buffer.from(text, encoding));
    const input = '{"name":"Café"}';
    const marked = await written('marked.json', `\uFEFF${input}`, 'utf8');
    expect(await read('projects create', ['--input', `@${marked}`])).toEqual({ name: 'Café' });
    const latin = await written('latin.json', input, 'latin1');
    await expect(read('projects create', ['--input', `@${latin}`])).rejects.toThrow(/^--input takes text in UTF-8: /);
    const csv = ['--csv', await written('toggl.csv', 'Café', 'latin1'), '--time-zone', 'Europe/Paris'];
    const run = read('csv-imports run', [...csv, '--source', 'toggl', '--date-order', 'YMD']);
    await expect(run).rejects.toThrow(/^--csv takes text in UTF-8: /);
  });

  test('has its secrets asked for, and no flag that takes one', async () => {
    expect(await read('auth login', ['--email', 'ada@example.com'])).toMatchObject({ password: 'asked for password' });
    await expect(read('auth login', ['--email', 'a@b.c', '--password=hunter2'])).rejects.toThrow(
      /^--password takes no value\.$/,
    );
    await expect(read('auth login', ['--email', 'a@b.c', '--passwrd=hunter2'])).rejects.toThrow(
      'There is no flag --passwrd. Did you mean "--password"?',
    );
  });

  test.for([
    ['tasks create', ['--title', 'x'], /needs --project-id\./],
    ['tasks list', ['--status', 'in_reveiw'], /one of todo, in_progress, in_review, done\. Did you mean "in_review"\?/],
    ['tasks list', ['--page', 'two'], /--page is a whole number, not "two"/],
    ['tasks list', ['--page', '99999999999999999'], /whole number/],
    ['tasks list', ['12'], /"12" is too much: `wms tasks list` takes flags only/],
    ['tasks get', ['1', '2'], /takes <task-id> and flags\. `wms tasks get --help` lists them\.$/],
    ['notifications list', ['--read=false'], /^--read takes no value: it is yes, and --no-read is no\.$/],
    [
      'notifications list',
      ['--read', 'false'],
      /"false" is too much: .* `wms notifications list --help` lists them\.$/,
    ],
    ['tasks get', ['--task-id'], /--task-id needs a value/],
    ['tasks list', ['--page', '-1'], /written --page=-5/],
    ['projects create', ['--billable', '--no-billable', '--name', 'x'], /contradict/],
    ['tasks list', ['--input', '{"a":'], /^--input is no valid JSON/],
    ['tasks list', ['--input', '[]'], /JSON object/],
    ['csv-imports run', ['--csv', '/nowhere.csv'], /there is no \/nowhere\.csv/],
    ['webhooks get', ['first'], /--webhook-id is a whole number/],
    ['tasks update', ['--estimated-hours', ''], /is a number/],
  ] as const)('`wms %s %s` is refused', async ([words, parameters, sentence]) => {
    await expect(read(words, [...parameters])).rejects.toThrow(sentence);
  });

  test('takes no secret as JSON on the command line, but from a file', async () => {
    const secret = '{"email":"ada@example.com","password":"hunter2"}';
    await expect(read('auth login', ['--input', secret])).rejects.toThrow('password must not be on the command line');
    const path = await givenFile('secret.json', secret);
    expect(await read('auth login', ['--input', `@${path}`])).toMatchObject({ password: 'hunter2' });
  });

  test('that is no valid JSON is not repeated, as it may hold a secret', async () => {
    await expect(read('auth login', ['--input', '{"password": hunter2}'])).rejects.toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
  });
});

describe('a name', () => {
  const candidates = [
    { id: 1, names: ['Winter fair'] },
    { id: 2, names: ['winter fair'] },
    { id: 3, names: ['Winter market', 'mei@example.com'] },
    { id: 4, names: ['Änderung'] },
  ];

  test('is exact, else without regard to case, else a beginning that fits one', () => {
    expect(chooseByName('task', 'winter fair', candidates)).toBe(2);
    expect(chooseByName('task', 'WINTER MARKET', candidates)).toBe(3);
    expect(chooseByName('employee', 'MEI@example.com', candidates)).toBe(3);
    expect(chooseByName('task', 'winter m', candidates)).toBe(3);
    expect(chooseByName('task', 'a\u0308nd', candidates)).toBe(4);
  });

  test('of several is not guessed: they are listed with their numbers', () => {
    expect(() => chooseByName('task', 'Winter Fair', candidates)).toThrow(
      '"Winter Fair" may be several tasks; give the number of one:\n  1  Winter fair\n  2  winter fair',
    );
    expect(() => chooseByName('task', 'fair', candidates)).toThrow('No task is called "fair"');
  });
});

test('a mistyped word is near to one, and a foreign one to none', () => {
  const words = ['list', 'create', 'update-picture'];
  expect(['lst', 'ilst', 'craete', 'update-pictures'].map((word) => findNearest(word, words))).toEqual([
    'list',
    'list',
    'create',
    'update-picture',
  ]);
  expect(findNearest('banana', words)).toBeUndefined();
});

test('an address that is none is named by where it was given, and not repeated', () => {
  for (const given of [
    'localhost:3000',
    'api.example.com',
    'https://ada:secret@api.example.com',
    'https://x.example?y',
  ])
    expect(() => checkUrl('WMS_URL', given)).toThrow(/^WMS_URL (?!.*secret)/);
  expect(checkUrl('--url', 'https://api.example.com/base/')).toBe('https://api.example.com/base');
});
