import { parseArgs } from 'node:util';
import type { JobState, Selection } from '../../jobs/pending-jobs.ts';

export const usage = `Lists pending and dead-lettered jobs (mails, notifications), and requeues them.

  npm run jobs -- list                    jobs that are dead-lettered or pending
  npm run jobs -- list --dead-lettered    jobs that failed their last attempt
  npm run jobs -- list --pending          jobs that are due or wait for a retry
  npm run jobs -- requeue <id> …          makes these due now, dead-lettered or waiting for a retry
  npm run jobs -- requeue --all           makes all dead-lettered jobs due now
  npm run jobs -- requeue --pending       makes all jobs that wait for a retry due now: the provider is back
  npm run jobs -- --help

Takes the settings of the service, which may be running; with the embedded database it must be stopped.`;

const jobStates = ['dead-lettered', 'pending'] as const satisfies JobState[];

/** The parsed command line. */
export type Request = { command: 'list'; states: JobState[] } | { command: 'requeue'; selection: Selection };

/** The command line is invalid; the message says why. */
export class BadUsage extends Error {}

export function readRequest(given: string[]): Request | 'help' {
  const flag = { type: 'boolean', default: false } as const;
  const options = { help: { ...flag, short: 'h' }, 'dead-lettered': flag, pending: flag, all: flag } as const;
  const { values, positionals } = orBadUsage(() => parseArgs({ args: given, allowPositionals: true, options }));
  if (values.help) return 'help';
  const [command, ...words] = positionals;
  const { 'dead-lettered': deadLettered, pending, all } = values;
  if (command === 'list') {
    if (words.length > 0 || all) throw new BadUsage('list takes --dead-lettered, --pending, or neither.');
    const states = jobStates.filter((state) => values[state]);
    return { command, states: states.length === 0 ? [...jobStates] : states };
  }
  if (command !== 'requeue')
    throw new BadUsage(command === undefined ? 'Say what to do.' : `There is no ${shown(command)}.`);
  if (deadLettered || [words.length > 0, all, pending].filter(Boolean).length !== 1)
    throw new BadUsage('requeue takes the numbers of jobs, --all or --pending, one of the three.');
  if (words.length === 0) return { command, selection: all ? 'dead-lettered' : 'pending' };
  const wrong = words.find((word) => !/^[1-9]\d{0,14}$/.test(word));
  if (wrong !== undefined) throw new BadUsage(`${shown(wrong)} is not the number of a job; list shows them.`);
  return { command, selection: { ids: [...new Set(words.map(Number))] } };
}

/** Turns an error of parseArgs, which names the wrong option, into BadUsage. */
function orBadUsage<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    throw error instanceof TypeError ? new BadUsage(error.message) : error;
  }
}

/** Untrusted text on one line, without a terminal's control sequences. */
export const shown = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 500);
