import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { completion } from '../../client-sdk/command/completion.ts';
import { scriptFolder } from '../examples/run-script.ts';
import { runShell } from '../support/pages.ts';

/* The script for bash is run by bash. Those for zsh and fish have the same words; neither shell is on every machine. */

async function write(shell: string): Promise<string> {
  let script = '';
  const call = {
    signal: new AbortController().signal,
    isJson: false,
    print: (text: string) => void (script += text),
    look: async () => ({ columns: 80, hasColor: false }),
  };
  await completion.run({ values: {}, operands: [shell] }, call);
  return script;
}

let file: string;
beforeAll(async () => {
  file = join(scriptFolder(), 'wms.bash');
  await writeFile(file, await write('bash'));
});

/** What bash would offer behind the words of a line; the last is the one that is being typed. */
async function offered(...lines: string[][]): Promise<string[][]> {
  const calls = lines.map(
    (words) =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _wms; echo "\${COMPREPLY[*]}"`,
  );
  const said = await runShell(scriptFolder(), [`source '${file}'`, ...calls].join('\n'));
  return said
    .split('\n')
    .slice(0, lines.length)
    .map((line) => line.split(' ').filter((word) => word !== ''));
}

test('bash completes commands, flags and the values of flags', async () => {
  const [first, second, flag, values, withSign, shortcut, words, none] = await offered(
    ['wms', 'task'],
    ['wms', 'tasks', ''],
    ['wms', 'tasks', 'list', '--st'],
    ['wms', 'tasks', 'list', '--status', 'in'],
    ['wms', 'tasks', 'list', '--status', '=', 'd'],
    ['wms', 'log', '1h', 'Winter', '--n'],
    ['wms', 'timer', 'st'],
    ['wms', 'tasks', 'list', '--owner-id', ''],
  );
  expect(first).toEqual(['tasks', 'task-logs']);
  expect(second).toEqual(['create', 'list', 'get', 'update', 'delete', 'on-project']);
  expect(flag).toEqual(['--status']);
  expect(values).toEqual(['in_progress', 'in_review']);
  expect(withSign).toEqual(['done']);
  expect(shortcut).toEqual(['--note', '--no-billable']);
  expect(words).toEqual(['start', 'stop']);
  expect(none).toEqual([]);
});

test('every script has the words of every command', async () => {
  for (const shell of ['zsh', 'fish']) {
    const script = await write(shell);
    for (const word of ['bulk-create', 'in_review', 'list-active']) expect(script).toContain(word);
  }
  await expect(write('bsh')).rejects.toThrow('Did you mean "bash"?');
});
