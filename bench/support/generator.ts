import { once } from 'node:events';
import type { Job, Load } from '../load/job.ts';
import type { Pinning } from './machine.ts';
import { atEnd } from './at-end.ts';
import { forkOn } from './fork-on.ts';

export type Generator = { run(job: Job): Promise<Load> };

/** The process that loads the sides, one job at a time, until the bench ends; see load/main.ts. */
export function startGenerator(pinning: Pinning): Generator {
  const child = forkOn(pinning?.generator, 'load/main.ts');
  let pending: { resolve(load: Load): void; reject(error: Error): void } | undefined;
  child.on('message', (answer: { load: Load } | { error: string }) => {
    if ('error' in answer) pending?.reject(new Error(answer.error));
    else pending?.resolve(answer.load);
  });
  child.once('exit', () => pending?.reject(new Error('the load generator ended in the middle of its work')));
  atEnd(async () => {
    pending = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill();
    await exit;
  });
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        pending = { resolve, reject };
        child.send(job);
      }),
  };
}
