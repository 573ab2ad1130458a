import { plainJson, plainLine } from '../examples/terminal/plain-text.ts';
import { connect, notSignedIn } from './connect.ts';
import { durationText } from './durations.ts';
import { lookUp, titleOf } from './look-up.ts';
import { Name } from './parse-value.ts';
import { UsageProblem } from './problem.ts';
import { localTime } from './show.ts';
import { jsonFlags, type Shortcut } from './shortcuts.ts';
import { suggest } from './nearest.ts';

const words = ['start', 'stop', 'show', 'discard'];

export const timer: Shortcut = {
  help: `
Usage: wms timer start <task> [--note TEXT]
       wms timer stop [--note TEXT]
       wms timer [show]
       wms timer discard

One timer runs at a time. <task> is a number or a title. Stopping logs its time;
discarding drops it.

Flags:
  --note TEXT   what the time is for
  --json        the answer as the service gives it

Example:
  wms timer start "Winter fair" --note "Stand plan"
`,
  words,
  flags: { ...jsonFlags, note: { type: 'string' } },
  async run({ values, operands }, { signal, isJson, print }) {
    const [word = 'show', task, ...more] = operands;
    if (!words.includes(word))
      throw new UsageProblem(`\`wms timer\` takes ${words.join(', ')}.${suggest(word, words)}`);
    if (more.length > 0 || (task !== undefined) !== (word === 'start'))
      throw new UsageProblem(
        word === 'start' ? 'Say one task: wms timer start <task>.' : `\`wms timer ${word}\` takes no more.`,
      );
    const { client, url, by } = connect();
    if (by === 'nothing') throw notSignedIn(url);
    const note = typeof values['note'] === 'string' ? { description: values['note'] } : {};
    const show = (answer: unknown, sentence: string): void =>
      print(isJson ? `${plainJson(answer, 2)}\n` : `${plainLine(sentence)}\n`);
    const titled = (taskId: number): Promise<string> => titleOf(client, taskId, signal);

    if (word === 'start') {
      const taskId = /^\d+$/.test(task!) ? Number(task) : await lookUp(client, new Name('task', task!), signal);
      const started = await client.timers.start({ taskId, ...note }, { signal });
      show(started, isJson ? '' : `The timer runs on ${await titled(taskId)} since ${localTime(started.startTime)}.`);
    } else if (word === 'stop') {
      const log = await client.timers.stop(note, { signal });
      show(log, isJson ? '' : `Logged ${durationText(log.durationSeconds)} on ${await titled(log.taskId)}.`);
    } else if (word === 'discard') show(await client.timers.discard({}, { signal }), 'The timer is discarded.');
    else {
      const running = await client.timers.get({}, { signal });
      if (isJson || 'timer' in running) show(running, 'No timer runs.');
      else show(running, `The timer runs on ${await titled(running.taskId)} since ${localTime(running.startTime)}.`);
    }
    client.close();
  },
};
