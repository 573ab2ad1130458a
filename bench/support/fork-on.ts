import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a program, named by its path in `bench/`, with a channel to it, on the given cores. */
export function forkOn(
  cores: string | undefined,
  program: string,
  environment: Record<string, string> = {},
): ChildProcess {
  const { PATH, HOME } = process.env;
  const options = {
    env: { PATH, HOME, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'] as ('ignore' | 'inherit' | 'ipc')[],
  };
  const file = fileURLToPath(new URL(`../${program}`, import.meta.url));
  if (cores === undefined) return fork(file, options);
  // taskset becomes the program that it starts, and hands the channel on.
  return fork(file, { ...options, execPath: 'taskset', execArgv: ['-c', cores, process.execPath] });
}
