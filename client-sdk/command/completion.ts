import { kebabCase, type Field } from './command.ts';
import { flagsOf } from './flags.ts';
import { areasOf } from './help.ts';
import { suggest } from './nearest.ts';
import { UsageProblem } from './problem.ts';
import { shortcuts, type Shortcut } from './shortcuts.ts';
import { commands } from './table.ts';

/*
 * Scripts that complete commands, flags and the values of flags that have few. They contain the whole table, so that a Tab
 * starts no process; after an upgrade they are made again.
 */

const shells = ['bash', 'zsh', 'fish'];

export const completion: Shortcut = {
  help: `
Usage: wms completion bash|zsh|fish

Writes a script for a shell, which then completes commands, flags and their
values.

  bash   echo 'source <(wms completion bash)' >> ~/.bashrc
  zsh    echo 'source <(wms completion zsh)' >> ~/.zshrc       # after compinit
  fish   wms completion fish > ~/.config/fish/completions/wms.fish
`,
  words: shells,
  flags: { help: { type: 'boolean', short: 'h' } },
  async run({ operands: [shell = '', ...more] }, { print }) {
    const write = { bash: inBash, zsh: inZsh, fish: inFish }[shell];
    if (!write || more.length > 0)
      throw new UsageProblem(`\`wms completion\` takes bash, zsh or fish.${suggest(shell, shells)}`);
    print(write(await readChoices()));
  },
};

type Choices = {
  /** The first words. */
  first: string[];
  /** The second words by the first. */
  second: Map<string, string[]>;
  /** The flags of each command, with their few values. */
  flags: Map<string, Map<string, readonly string[]>>;
};

async function readChoices(): Promise<Choices> {
  const areas = areasOf();
  const second = new Map(areas);
  const flags: Choices['flags'] = new Map();
  for (const [words, command] of Object.entries(commands)) {
    const fields = new Map(Object.entries(command.fields).map(([name, field]) => [kebabCase(name), field]));
    flags.set(words, valuesOf(Object.keys(flagsOf(command)), fields));
  }
  for (const [name, { load }] of Object.entries(shortcuts)) {
    const shortcut = await load();
    const words = shortcut.words ?? [];
    const own = valuesOf(Object.keys(shortcut.flags), new Map());
    if (words.length > 0) second.set(name, [...words]);
    flags.set(name, own);
    for (const word of words) flags.set(`${name} ${word}`, own);
  }
  return { first: [...Object.keys(shortcuts), ...areas.keys(), 'help'], second, flags };
}

const valuesOf = (names: string[], fields: Map<string, Field>): Map<string, readonly string[]> =>
  new Map(names.map((name) => [`--${name}`, fields.get(name)?.values ?? []]));

type Script = Record<'seconds' | 'values' | 'flags' | 'shortcutFlags', string[]> & { firsts: string };

/** The cases of a shell's `case`; nothing in them needs quoting but the spaces. */
function casesOf({ first, second, flags }: Choices): Script {
  const line = (key: string, words: readonly string[]): string => `    "${key}") list="${words.join(' ')}" ;;`;
  return {
    firsts: first.join(' '),
    seconds: [...second].map(([name, words]) => line(name, words)),
    values: [...flags].flatMap(([words, its]) =>
      [...its].filter(([, values]) => values.length > 0).map(([flag, values]) => line(`${words} ${flag}`, values)),
    ),
    flags: [...flags].map(([words, its]) => line(words, [...its.keys()])),
    // What stands behind these is not always a word.
    shortcutFlags: [...flags]
      .filter(([words]) => words in shortcuts)
      .map(([words, its]) => line(words, [...its.keys()])),
  };
}

/** What bash and zsh choose from, by the number of the word that is typed, itself and those before it. */
function chooseList(choices: Choices): string {
  const { firsts, seconds, values, flags, shortcutFlags } = casesOf(choices);
  return `  if (( at == 1 )); then
    list="${firsts}"
  elif (( at == 2 )) && [[ $word != -* ]]; then
    case "$one" in
${seconds.join('\n')}
    esac
  else
    case "$two $before" in
${values.join('\n')}
    esac
    if [[ -z $list && $word == -* ]]; then
      case "$two" in
${flags.join('\n')}
      esac
      [[ -n $list ]] || case "$one" in
${shortcutFlags.join('\n')}
      esac
    fi
  fi`;
}

const inBash = (choices: Choices): string => `# Completes wms in bash. Made by \`wms completion bash\`.
_wms() {
  local at=$COMP_CWORD word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" list=""
  local one="\${COMP_WORDS[1]}" two="\${COMP_WORDS[1]} \${COMP_WORDS[2]-}"
  COMPREPLY=()
  # bash makes words of --status=done: the flag, the sign and the value.
  if [[ $word == "=" ]]; then word=""; elif [[ $before == "=" ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
${chooseList(choices)}
  COMPREPLY=( $(compgen -W "$list" -- "$word") ) || true
}
complete -o default -F _wms wms
`;

const inZsh = (choices: Choices): string => `#compdef wms
# Completes wms in zsh. Made by \`wms completion zsh\`.
_wms() {
  local at=$(( CURRENT - 1 )) word="$PREFIX" before="\${words[CURRENT-1]}" list=""
  local one="\${words[2]}" two="\${words[2]} \${words[3]}"
  # --status=done is one word here.
  if [[ $PREFIX == --*=* ]]; then before="\${PREFIX%%=*}"; compset -P "*="; word="$PREFIX"; fi
${chooseList(choices)}
  if [[ -n $list ]]; then compadd -- \${=list}; else _files; fi
}
# Sourced, or read from $fpath by the first Tab.
if [[ $funcstack[1] == _wms ]]; then _wms "$@"; else compdef _wms wms; fi
`;

function inFish({ first, second, flags }: Choices): string {
  const lines = [
    '# Completes wms in fish. Made by `wms completion fish`.',
    '# Whether the line begins with these words, and whether it is these alone.',
    'function __wms_begins',
    '  set -l words (commandline -opc)',
    '  test "$words[2..-1]" = "$argv"; or string match -q -- "$argv *" "$words[2..-1]"',
    'end',
    'function __wms_is',
    '  set -l words (commandline -opc)',
    '  test "$words[2..-1]" = "$argv"',
    'end',
    `complete -c wms -n __wms_is -f -a '${first.join(' ')}'`,
  ];
  for (const [name, words] of second) lines.push(`complete -c wms -n '__wms_is ${name}' -f -a '${words.join(' ')}'`);
  for (const [words, its] of flags)
    for (const [flag, values] of its) {
      const given = values.length > 0 ? ` -x -a '${values.join(' ')}'` : '';
      lines.push(`complete -c wms -n '__wms_begins ${words}' -l ${flag.slice(2)}${given}`);
    }
  return `${lines.join('\n')}\n`;
}
