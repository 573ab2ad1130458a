import { kebabCase, type Command } from './command.ts';
import { findNearest } from './nearest.ts';
import { parseValue } from './parse-value.ts';
import { UsageProblem } from './problem.ts';
import type { Input } from './read-input.ts';
import { callOperation } from './run-operation.ts';
import { jsonFlags, type Shortcut } from './shortcuts.ts';
import { commands } from './table.ts';

/** Each stream by what is watched: `comments.onTask` as `task`, one's own as the name of their area, such as `timers`. */
const streams = new Map<string, Command>();
for (const command of Object.values(commands).filter(({ does }) => does === 'subscription')) {
  const [area, verb] = command.operation.split('.') as [string, string];
  const subject = kebabCase(verb).replace(/^on-/, '');
  streams.set(subject === 'mine' ? kebabCase(area) : subject, command);
}

export const watch: Shortcut = {
  help: `
Usage: wms watch <what> [<id or name>] [--json]

Shows events while they happen, one on a line, until Ctrl-C. After a lost
connection it goes on with what was missed.

${[...streams].map(([what, { summary, operands }]) => `  wms watch ${[what, ...operands.map((name) => `<${kebabCase(name)}>`)].join(' ').padEnd(20)}  ${summary}`).join('\n')}

Flags:
  --json   each event as a line of JSON

Example:
  wms watch task 12
`,
  words: [...streams.keys()],
  flags: jsonFlags,
  async run({ values, operands }, call) {
    const [what, ...subject] = operands;
    const command = streams.get(what ?? '');
    if (!command) {
      const nearest = findNearest(what ?? '', streams.keys());
      const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
      throw new UsageProblem(`Say what to watch: ${[...streams.keys()].join(', ')}.${meant}`);
    }
    const names = command.operands;
    if (subject.length !== names.length)
      throw new UsageProblem(
        `Write \`wms watch ${[what, ...names.map((name) => `<${kebabCase(name)}>`)].join(' ')}\`.`,
      );
    const input: Input = {};
    for (const [at, name] of names.entries()) input[name] = await parseValue(name, command.fields[name]!, subject[at]!);
    await callOperation(command, input, { values }, call);
  },
};
