import { expect, test } from 'vitest';
import { BadUsage, readRequest, shown } from '../../server/commands/support/jobs-request.ts';

test.each<[words: string[], request: ReturnType<typeof readRequest>]>([
  [['list'], { command: 'list', states: ['dead-lettered', 'pending'] }],
  [['list', '--pending'], { command: 'list', states: ['pending'] }],
  [['--dead-lettered', 'list', '--pending'], { command: 'list', states: ['dead-lettered', 'pending'] }],
  [['requeue', '7', '12', '7'], { command: 'requeue', selection: { ids: [7, 12] } }],
  [['requeue', '--all'], { command: 'requeue', selection: 'dead-lettered' }],
  [['requeue', '--pending'], { command: 'requeue', selection: 'pending' }],
  [['--help'], 'help'],
  [['requeue', '-h'], 'help'],
])('%j is understood', (words, request) => {
  expect(readRequest(words)).toEqual(request);
});

test.each<[words: string[], said: string]>([
  [[], 'Say what to do.'],
  [['show'], 'There is no show.'],
  [['list', '7'], 'list takes --dead-lettered, --pending, or neither.'],
  [['list', '--all'], 'list takes'],
  [['list', '--sent'], "Unknown option '--sent'"],
  [['requeue'], 'requeue takes the numbers of jobs'],
  [['requeue', '--dead-lettered'], 'one of the three'],
  [['requeue', '7', '--all'], 'one of the three'],
  [['requeue', '--all', '--pending'], 'one of the three'],
  [['requeue', '7', '0'], '0 is not the number of a job'],
  [['requeue', '-7'], "Unknown option '-7'"],
  [['requeue', '99999999999999999999'], 'is not the number of a job'],
  [['requeue', 'seven\u001b[2J'], 'seven [2J is not the number of a job'],
])('%j is bad usage', (words, said) => {
  expect(() => readRequest(words)).toThrow(BadUsage);
  expect(() => readRequest(words)).toThrow(said);
});

test('text from elsewhere is one line, and tells a terminal nothing', () => {
  expect(shown('a\r\nb\u001b]0;c\u0007 \u202Ed\u2028e ')).toBe('a b ]0;c d e');
  expect(shown('x'.repeat(600))).toHaveLength(500);
});
