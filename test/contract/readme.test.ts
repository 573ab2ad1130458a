import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describeSettings } from '../../server/config.ts';
import { endAllProcesses, makeHome, startProcess } from '../support/process.ts';

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');

/** The shell blocks under a heading, as a reader would paste them. */
function commandsUnder(heading: string): string[] {
  const section = readme.split(/^## /m).find((part) => part.startsWith(heading));
  if (section === undefined) throw new Error(`the README has no section ${heading}`);
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) => match[1]!);
}

describe('the tour', () => {
  test('runs as it is printed, and every answer is what it promises', async () => {
    const home = await makeHome();
    onTestFinished(async () => {
      await endAllProcesses();
      await home.remove();
    });
    const service = await startProcess(home.environment);
    const [setUp, ...steps] = commandsUnder('Five minutes with curl');
    const script = [
      'set -eu',
      setUp!.replace(/^base=.*$/m, `base=${service.url}`),
      ...steps.map((step) => step.replaceAll('.data/mail.jsonl', join(home.folder, 'mail.jsonl'))),
    ].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
    });
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);

    const answers = stdout.split(/(?<=\})(?=\{)/).map((answer) => JSON.parse(answer) as Record<string, unknown>);
    expect(answers).toMatchObject([
      { success: true },
      { email: 'grace@example.com', designation: 'Engineer' },
      { durationSeconds: 3600, description: 'First gear' },
      { mentions: [{ email: 'grace@example.com' }] },
      { employees: [{ name: 'Ada Lovelace' }, { name: 'Grace Hopper' }], deletedEmployees: [] },
      { taskLogs: [{ durationSeconds: 3600 }], totalSeconds: 3600 },
      { comments: [{ likeCount: 0, replies: [] }] },
      { status: 400, code: 'VALIDATION_FAILED', issues: [{ path: ['start_time'] }, { path: ['end_time'] }] },
    ]);
  });
});

describe('the table of settings', () => {
  test('is that of the program', () => {
    const rows = describeSettings().map(
      ({ name, description, default: value }) =>
        `| \`${name}\` | ${description} | ${value === '' ? '' : `\`${value}\``} |`,
    );
    const table = /<!-- settings -->\n([\s\S]*?)\n<!-- \/settings -->/.exec(readme)?.[1]?.split('\n').slice(2);
    expect(table).toEqual(rows);
  });
});
