import { parseArgs } from 'node:util';
import type { DeadLettered, JobState, Selection } from '../../jobs/pending-jobs.ts';

export const usage = `Lists pending and dead-lettered jobs (mails, notifications), and requeues or discards them.

  npm run jobs -- list                    jobs that are dead-lettered or pending
  npm run jobs -- list --dead-lettered    jobs that failed their last attempt
  npm run jobs -- list --pending          jobs that are due or wait for a retry
  npm run jobs -- requeue <id> …          makes these due now, dead-lettered or waiting for a retry
  npm run jobs -- requeue --all           makes all dead-lettered jobs due now
  npm run jobs -- requeue --pending       makes all jobs that wait for a retry due now: the provider is back
  npm run jobs -- discard <id> …          deletes these dead-lettered jobs: nobody tries them again
  npm run jobs -- discard --all           deletes all dead-lettered jobs
  npm run jobs -- --help

Takes the settings of the service, which may be running; with the embedded database it must be stopped.`;

const jobStates = ['dead-lettered', 'pending'] as const satisfies JobState[];

/** The parsed command line. */
export type Request =
  | { command: 'list'; states: JobState[] }
  | { command: 'requeue'; selection: Selection }
  | { command: 'discard'; selection: DeadLettered };

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
  if (command !== 'requeue' && command !== 'discard')
    throw new BadUsage(command === undefined ? 'Say what to do.' : `There is no ${shown(command)}.`);
  const isOneChoice = [words.length > 0, all, pending].filter(Boolean).length === 1;
  if (command === 'discard' && (deadLettered || pending || !isOneChoice))
    throw new BadUsage('discard takes the numbers of jobs or --all, one of the two.');
  if (deadLettered || !isOneChoice)
    throw new BadUsage('requeue takes the numbers of jobs, --all or --pending, one of the three.');
  if (pending) return { command: 'requeue', selection: 'pending' };
  return { command, selection: all ? 'dead-lettered' : { ids: numbersIn(words) } };
}

function numbersIn(words: string[]): number[] {
  const wrong = words.find((word) => !/^[1-9]\d{0,14}$/.test(word));
  if (wrong !== undefined) throw new BadUsage(`${shown(wrong)} is not the number of a job; list shows them.`);
  return [...new Set(words.map(Number))];
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
