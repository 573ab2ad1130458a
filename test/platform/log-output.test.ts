import { expect, test } from 'vitest';
import { openLogOutput } from '../../server/platform/log-output.ts';

type Done = (error: NodeJS.ErrnoException | null, written: number) => void;

/** An output whose system calls are answered by the test. */
function open() {
  const calls: { text: string; done: Done }[] = [];
  const output = openLogOutput(1, (_fd, bytes, done) => void calls.push({ text: String(bytes), done }));
  return { output, calls };
}
const failed = (code: string) => Object.assign(new Error(code), { code });

test('what was taken in part is written on from there, and later lines follow', async () => {
  const { output, calls } = open();
  output.write('one\n');
  output.write('two\n');
  calls[0]!.done(null, 2);
  expect(calls[1]!.text).toBe('e\n');
  calls[1]!.done(null, 2);
  expect(calls[2]!.text).toBe('two\n');
  const flushed = output.flush(60_000);
  calls[2]!.done(null, 4);
  await flushed;
});

test('what nobody takes is dropped beyond 4 MiB, and the number of lines is told', () => {
  const { output, calls } = open();
  const line = `${'x'.repeat(1023)}\n`;
  for (let count = 0; count < 6 * 1024; count += 1) output.write(line);
  calls[0]!.done(null, 1024);
  const { text } = calls[1]!;
  expect(text.length).toBeLessThan(4.1 * 1024 * 1024);
  const last = JSON.parse(text.trimEnd().split('\n').at(-1)!) as { dropped: number };
  expect(last.dropped).toBe(6 * 1024 - 1 - 4 * 1024);
});

test('a reader who has gone is written to no more', async () => {
  const { output, calls } = open();
  output.write('one\n');
  calls[0]!.done(failed('EPIPE'), 0);
  output.write('two\n');
  await output.flush(60_000);
  expect(calls).toHaveLength(1);
});

test('what a full disk refuses is lost, and the next line is tried', () => {
  const { output, calls } = open();
  output.write('one\n');
  calls[0]!.done(failed('ENOSPC'), 0);
  output.write('two\n');
  expect(calls.map(({ text }) => text)).toEqual(['one\n', 'two\n']);
});

test('a flush gives up in time', async () => {
  const { output } = open();
  output.write('one\n');
  await output.flush(20);
  expect(output.isWriting()).toBe(true);
});

test('an attempt that begins as a flush gives up is waited for, and is the last', async () => {
  const { output, calls } = open();
  output.write('one\n');
  const flushed = output.flush(50);
  setTimeout(() => calls[0]!.done(failed('EAGAIN'), 0), 60);
  await flushed;
  expect(output.isWriting()).toBe(false);
  expect(calls).toHaveLength(1);
});
