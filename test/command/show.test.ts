import { describe, expect, test } from 'vitest';
import { localTime, lookOf, showAnswer } from '../../client-sdk/command/show.ts';
import { showEvent } from '../../client-sdk/command/show-event.ts';
import { explainError } from '../../client-sdk/command/explain-error.ts';
import { widthOf } from '../../client-sdk/command/text-width.ts';

/* What people see. */

const look = { columns: 60, hasColor: false };

describe('a list', () => {
  test('is a table whose columns fit, without those in which nothing stands', () => {
    const employees = [
      { _id: 1, name: 'Ada', phone: null, isAdmin: true, createdAt: '2026-03-02T09:00:00.000Z' },
      { _id: 12, name: 'Mei-Ling 陈', phone: null, isAdmin: false, createdAt: '2026-03-02T09:00:00.000Z' },
    ];
    const at = localTime('2026-03-02T09:00:00.000Z');
    expect(showAnswer({ employees }, look)).toBe(
      `id  name         is admin  created at
 1  Ada          yes       ${at}
12  Mei-Ling 陈  no        ${at}
`,
    );
    expect(showAnswer({ employees }, { ...look, columns: 30 })).toContain(
      '1 more column in a wider terminal, all with --json.',
    );
  });

  test('says in a narrow terminal what its rows are, too', () => {
    const results = [{ _id: 3, title: 'Import the collection from the old catalogue', status: 'todo' }];
    expect(showAnswer({ results }, { ...look, columns: 40 })).toBe(
      `id  title
 3  Import the collection from the…
1 more column in a wider terminal, all with --json.
`,
    );
  });

  test('begins with what says most, and shows times as people say them', () => {
    const rows = [{ companyId: 1, durationSeconds: 5400, status: 'todo', title: 'Cut', _id: 7 }];
    expect(showAnswer({ rows, totalSeconds: 5400 }, look)).toBe(
      'id  title  status    duration  company id\n 7  Cut    todo    1 h 30 min           1\ntotal: 1 h 30 min\n',
    );
    expect(showAnswer({ employees: [{ _id: 1 }], deletedEmployees: [] }, look)).toBe('id\n 1\n');
  });

  test('shows what a search has found as its text', () => {
    const title = { text: 'Send the invoices', ranges: [{ start: 9, end: 17 }] };
    const results = [{ kind: 'task', _id: 9, title, excerpt: null }];
    expect(showAnswer({ results, nextCursor: null }, look)).toBe(
      'id  title              kind\n 9  Send the invoices  task\n',
    );
  });

  test('says how it goes on', () => {
    const page = { results: [{ _id: 1 }], page: 1, pageSize: 1, total: 3, totalPages: 3 };
    expect(showAnswer(page, look)).toBe('id\n 1\nPage 1 of 3, 3 in all: --all shows every one.\n');
    const capped = { ...page, isTotalCapped: true, nextCursor: 'NA' };
    expect(showAnswer(capped, look)).toBe('id\n 1\nPage 1, more than 3 in all: --all shows every one.\n');
    expect(showAnswer({ results: [], nextCursor: null }, look)).toBe('None.\n');
  });
});

describe('a record', () => {
  test('is a line for each field, with the records and lists in it', () => {
    const record = { _id: 7, name: 'Fair', owner: { _id: 1, name: 'Ada' }, tags: ['a', 'b'], logs: [{ day: 1 }] };
    expect(showAnswer(record, look)).toBe(`id     7
name   Fair
owner
  id    1
  name  Ada
tags   a, b
logs
  day
    1
`);
  });

  test('shows the message of a comment as its text, and another message as it is', () => {
    const sender = { _id: 1, name: 'Ada' };
    expect(showAnswer({ message: '<p>Wind &amp; water</p>', sender }, look)).toContain('message  Wind & water\n');
    expect(showAnswer({ comments: [{ message: 'Wind &lt; <b>water</b>', sender }] }, look)).toContain('Wind < water');
    expect(showAnswer({ _id: 1, message: '<a> &lt; <b>' }, look)).toContain('message  <a> &lt; <b>\n');
  });

  test('shows no token, and no control characters of others', () => {
    const shown = showAnswer({ access_token: 'eyJ', refresh_token: 'eyJ', name: 'A\u001B[2Jda\u202E' }, look);
    expect(shown).toBe('name  A\uFFFD[2Jda\uFFFD\n');
  });

  test('that only says that it is done says so', () => {
    expect(showAnswer({ success: true }, look)).toBe('Done.\n');
  });
});

test('colours are for a terminal, and for nobody who has set NO_COLOR', () => {
  const terminal = { isTTY: true, columns: 80 } as NodeJS.WriteStream;
  expect(lookOf(terminal, undefined)).toEqual({ columns: 80, hasColor: true });
  expect(lookOf(terminal, '1')).toEqual({ columns: 80, hasColor: false });
  expect(lookOf({ isTTY: false, columns: 80 } as NodeJS.WriteStream, undefined).hasColor).toBe(false);
  expect(showAnswer([{ _id: 1 }], { columns: 80, hasColor: true })).toBe('\u001B[1mid\u001B[22m\n 1\n');
});

test('an event is one line: when, what, and what has changed', () => {
  const at = '2026-03-02T09:00:00.000Z';
  const comment = { sender: { name: 'Ada' }, message: '<p>Hello<br>there</p>' };
  expect(showEvent({ id: 1, type: 'comment.created', at, actorId: 1, comment })).toBe(
    `${localTime(at)} comment.created Ada: Hello there`.replaceAll(/ (?=comment|Ada:)/g, '  '),
  );
  const notification = { title: 'Ada wrote', message: 'a < b, c > d &amp; e' };
  expect(showEvent({ id: 1, type: 'notification.created', at, notification })).toContain('  a < b, c > d &amp; e');
  const changes = { status: { before: 'todo', after: 'done' } };
  expect(showEvent({ id: 2, type: 'task.updated', at, actorId: 7, task: { title: 'Cut' }, changes })).toBe(
    `${localTime(at)}  task.updated  Cut  status: todo → done  by 7`,
  );
});

test('what should not happen is said without a stack', () => {
  const { exitCode, text } = explainError(new Error('The disk is full'), { words: 'tasks list', isJson: false });
  expect([exitCode, text]).toEqual([1, 'The disk is full']);
});

test('wide letters and emoji take two columns', () => {
  expect(['abc', '陈', '🎪', 'é', 'e\u0301', 'é'].map(widthOf)).toEqual([3, 2, 2, 1, 1, 1]);
});
