import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { completion } from '../../client-sdk/command/completion.ts';
import { scriptFolder } from '../examples/run-script.ts';
import { runShell } from '../support/pages.ts';

/* Each script is run by its shell; zsh and fish are not on every machine. */

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
const [hasZsh, hasFish] = [has('zsh'), has('fish')];
const unless = (isThere: boolean, shell: string): string => (isThere ? '' : ` (skipped: no ${shell} here)`);

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

const files: Record<string, string> = {};
beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    await writeFile((files[shell] = join(scriptFolder(), `wms.${shell}`)), await write(shell));
});

/** Lines of `wms`, the last word of each as far as it is typed, with what every shell offers behind it. */
const offers: [line: string, words: string[]][] = [
  ['task', ['tasks', 'task-logs']],
  ['tasks ', ['create', 'list', 'get', 'update', 'delete', 'on-project']],
  ['tasks list --st', ['--status']],
  ['tasks list --status in', ['in_progress', 'in_review']],
  ['log 1h Winter --n', ['--note', '--no-billable']],
  ['timer st', ['start', 'stop']],
  ['watch t', ['timers', 'task']],
];
const typed = offers.map(([line]) => `wms ${line}`);
const expected = offers.map(([, words]) => words);
const wordsOf = (line: string): string[] => line.split(' ');

/** What bash would offer behind the words of a line; the last is the one that is being typed. */
async function offered(...lines: string[][]): Promise<string[][]> {
  const calls = lines.map(
    (words) =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _wms; echo "\${COMPREPLY[*]}"`,
  );
  const said = await runShell(scriptFolder(), [`source '${files['bash']!}'`, ...calls].join('\n'));
  return said
    .split('\n')
    .slice(0, lines.length)
    .map((line) => line.split(' ').filter((word) => word !== ''));
}

test('bash completes commands, flags and the values of flags', async () => {
  // It takes the sign before a value for a word.
  const [withSign, name, ...found] = await offered(
    wordsOf('wms tasks list --status = d'),
    wordsOf('wms tasks list --owner-id '),
    ...typed.map(wordsOf),
  );
  expect(found).toEqual(expected);
  expect(withSign).toEqual(['done']);
  expect(name).toEqual([]);
});

/** What fish would offer for each line, in any order. */
async function offeredByFish(...lines: string[]): Promise<string[][]> {
  const home = scriptFolder();
  const calls = lines.map((line) => `complete -C'${line}'; echo ---`);
  await writeFile(join(home, 'lines.fish'), [`source '${files['fish']!}'`, ...calls].join('\n'));
  // Its mistakes are on the standard error.
  const said = await runShell(home, `fish --no-config lines.fish 2>&1`, { XDG_CONFIG_HOME: home, XDG_DATA_HOME: home });
  return said
    .split('---\n')
    .slice(0, lines.length)
    .map((part) => part.split('\n').filter((word) => word !== ''));
}

test.skipIf(!hasFish)(`fish completes commands, flags and the values of flags${unless(hasFish, 'fish')}`, async () => {
  const [withSign, ...found] = await offeredByFish('wms tasks list --status=d', ...typed);
  expect(found.map((words) => words.toSorted())).toEqual(expected.map((words) => words.toSorted()));
  expect(withSign).toEqual(['--status=done']);
});

/** What zsh would offer behind the words of a line. What asks for that is a part of its line editor, and is played here. */
async function offeredByZsh(...lines: string[][]): Promise<string[][]> {
  const calls = lines.map((words) => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    return `words=(${quoted}); CURRENT=${words.length}; PREFIX='${words.at(-1)!}'; print -r -- "$(_wms)"`;
  });
  const editor = `
    compdef() { registered="$*" }
    compset() { PREFIX="\${PREFIX#*=}" }
    compadd() { shift; print -rn -- "\${(@M)@:#$PREFIX*}" }
    _files() { print -rn -- files }`;
  const check = '[[ $registered == "_wms wms" ]] || exit 1';
  await writeFile(join(scriptFolder(), 'lines.zsh'), [editor, `source '${files['zsh']!}'`, check, ...calls].join('\n'));
  const said = await runShell(scriptFolder(), 'zsh -f lines.zsh 2>&1');
  return said
    .split('\n')
    .slice(0, lines.length)
    .map((line) => line.split(' '));
}

test.skipIf(!hasZsh)(`zsh completes commands, flags and the values of flags${unless(hasZsh, 'zsh')}`, async () => {
  const [withSign, name, ...found] = await offeredByZsh(
    wordsOf('wms tasks list --status=d'),
    wordsOf('wms tasks list --owner-id '),
    ...typed.map(wordsOf),
  );
  expect(found).toEqual(expected);
  expect(withSign).toEqual(['done']);
  expect(name).toEqual(['files']);
});

test('every script has the words of every command', async () => {
  for (const shell of ['zsh', 'fish']) {
    const script = await write(shell);
    for (const word of ['bulk-create', 'in_review', 'list-active']) expect(script).toContain(word);
  }
  await expect(write('bsh')).rejects.toThrow('Did you mean "bash"?');
});
