import { parseArgs } from 'node:util';
import type { Selection, Which } from './delivery/owed.ts';

export const usage = `Shows what the service owes (mails, notifications) and has given up parked deliveries tried anew.

  npm run deliveries -- list                 all that is parked, or waits for a try
  npm run deliveries -- list --parked        what was given up after its last try
  npm run deliveries -- list --waiting       what waits for its first or its next try
  npm run deliveries -- requeue <id> …       has these tried anew, parked or waiting
  npm run deliveries -- requeue --all        has all that is parked tried anew
  npm run deliveries -- requeue --waiting    has all that waits for its next try tried now: the provider is back
  npm run deliveries -- --help

With the same settings as the service. It may run meanwhile, but for the embedded database, for which it must be stopped.`;

/** What an operator asks of the deliveries. */
export type Request = { command: 'list'; which: Which[] } | { command: 'requeue'; selection: Selection };

/** The words of the command line make no sense; the message says which. */
export class BadUsage extends Error {}

export function readRequest(given: string[]): Request | 'help' {
  const flag = { type: 'boolean', default: false } as const;
  const options = { help: { ...flag, short: 'h' }, parked: flag, waiting: flag, all: flag } as const;
  const { values, positionals } = orBadUsage(() => parseArgs({ args: given, allowPositionals: true, options }));
  if (values.help) return 'help';
  const [command, ...words] = positionals;
  const { parked, waiting, all } = values;
  if (command === 'list') {
    if (words.length > 0 || all) throw new BadUsage('list takes --parked, --waiting, or neither.');
    const which = [...(parked ? ['parked' as const] : []), ...(waiting ? ['waiting' as const] : [])];
    return { command, which: which.length === 0 ? ['parked', 'waiting'] : which };
  }
  if (command !== 'requeue')
    throw new BadUsage(command === undefined ? 'Say what to do.' : `There is no ${shown(command)}.`);
  if (parked || [words.length > 0, all, waiting].filter(Boolean).length !== 1)
    throw new BadUsage('requeue takes the numbers of deliveries, --all or --waiting, one of the three.');
  if (words.length === 0) return { command, selection: all ? 'parked' : 'waiting' };
  const wrong = words.find((word) => !/^[1-9]\d{0,14}$/.test(word));
  if (wrong !== undefined) throw new BadUsage(`${shown(wrong)} is no number of a delivery; list shows them.`);
  return { command, selection: { ids: [...new Set(words.map(Number))] } };
}

/** What parseArgs throws says what is wrong as well. */
function orBadUsage<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    throw error instanceof TypeError ? new BadUsage(error.message) : error;
  }
}

/** Text from elsewhere, on one line and without what a terminal would obey. */
export const shown = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 500);
