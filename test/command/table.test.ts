import { describe, expect, onTestFinished, test } from 'vitest';
import { flagsOf, parseFlags } from '../../client-sdk/command/flags.ts';
import { areaHelp, areasOf, commandHelp, exampleOf, mainHelp } from '../../client-sdk/command/help.ts';
import { readInput } from '../../client-sdk/command/read-input.ts';
import { shortcuts } from '../../client-sdk/command/shortcuts.ts';
import { commands } from '../../client-sdk/command/table.ts';
import { appRouter } from '../../server/router.ts';
import { runShell } from '../support/pages.ts';
import { scriptFolder } from '../examples/run-script.ts';

/* The table that is generated: nothing is missing in it, and all of it can be called. */

test('every operation and stream of the router is a command, and so is every file', () => {
  const operations = Object.values(commands).filter(({ does }) => does !== 'download');
  const names = operations.map(({ operation }) => operation);
  expect(names.toSorted()).toEqual(Object.keys(appRouter._def.procedures).toSorted());
  const files = Object.entries(commands).filter(([, { does }]) => does === 'download');
  expect(files.map(([words]) => words)).toEqual([
    'timesheets csv',
    'timesheets xlsx',
    'timesheets pdf',
    'audit csv',
    'audit jsonl',
  ]);
});

test('no area hides behind a shortcut', () => {
  expect(Object.keys(shortcuts).filter((name) => areasOf().has(name))).toEqual([]);
});

test('secrets are asked for: passwords, codes and tokens', () => {
  const secrets = Object.values(commands).flatMap(({ operation, fields }) =>
    Object.entries(fields)
      .filter(([, { isSecret }]) => isSecret)
      .map(([name]) => `${operation} ${name}`),
  );
  expect(secrets).toEqual([
    'auth.login password',
    'auth.googleLogin token',
    'auth.appleLogin token',
    'auth.otpLogin otp',
    'auth.refresh refresh_token',
    'registration.registerCompany otp',
    'passwords.reset token',
    'passwords.reset new_password',
    'passwords.reset confirm_password',
    'passwords.change current_password',
    'passwords.change new_password',
    'passwords.change confirm_password',
    'invitations.accept token',
  ]);
});

describe('the help', () => {
  test('names every command, each with its flags', () => {
    const main = mainHelp();
    for (const [words, command] of Object.entries(commands)) {
      const [area, operation] = words.split(' ') as [string, string];
      expect(main).toMatch(new RegExp(`\\b${area}\\b`));
      expect(areaHelp(area)).toContain(operation);
      const help = commandHelp(words, command);
      const flags = Object.keys(flagsOf(command)).filter((flag) => flag !== 'help');
      expect([words, flags.filter((flag) => !help.includes(`--${flag}`))]).toEqual([words, []]);
    }
  });

  test('fits a terminal of 80 columns', async () => {
    onTestFinished(() => void Reflect.deleteProperty(process.stdout, 'columns'));
    process.stdout.columns = 80;
    const own = await Promise.all(Object.values(shortcuts).map(async ({ load }) => (await load()).help));
    const areas = [...areasOf().keys()].map(areaHelp);
    const all = Object.entries(commands).map(([words, command]) => commandHelp(words, command).split('Example:')[0]!);
    const lines = [mainHelp(), ...own, ...areas, ...all].flatMap((help) => help.split('\n'));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  test('has every example as a command line that means it', async () => {
    const examples = Object.entries(commands).filter(([, { example, fields }]) => {
      return example && Object.values(fields).every(({ type }) => type !== 'file' && type !== 'textFile');
    });
    expect(examples.length).toBeGreaterThan(30);
    // What a shell makes of them.
    const lines = examples.map(([words, command]) => exampleOf(words, command));
    const script = lines.map((line) => `printf '%s\\0' ${line}; printf '\\n\\0'`).join('\n');
    const split = (await runShell(scriptFolder(), script)).split('\n\0').map((one) => one.split('\0').slice(0, -1));
    for (const [at, [words, command]] of examples.entries()) {
      const parsed = parseFlags(split[at]!.slice(3), flagsOf(command));
      const { example = {}, fields } = command;
      const taken = Object.entries(example).filter(([name]) => {
        const field = fields[name];
        return field && !field.fromSession && !field.isSecret;
      });
      const missing = Object.entries(fields).filter(([name, { isRequired }]) => isRequired && !(name in example));
      // An example for REST may omit values of the path.
      const given = { ...parsed, values: { ...parsed.values } };
      for (const [name] of missing) given.values['input'] = JSON.stringify({ [name]: 1 });
      const input = await readInput(words, command, given, async () => 'secret');
      expect([words, input]).toEqual([words, expect.objectContaining(Object.fromEntries(taken))]);
    }
  });
});
