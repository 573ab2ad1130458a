import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sessionEnd } from '../server/kernel/refresh-rules.ts';
import { createTokens } from '../server/kernel/tokens.ts';
import { prepareNest } from './nest-build.ts';
import type { Caller } from './load/job.ts';
import type { Pinning } from './machine.ts';
import type { Format } from './requests.ts';
import type { World } from './world.ts';

export type SideName = 'floor' | 'rest' | 'secured' | 'trpc' | 'batch' | 'stock' | 'nest';

/** What is measured against what. Sides of one program are one process, asked in different ways. */
type Side = {
  title: string;
  program: string;
  format: Format;
  /** Whether who calls is asked. */
  takesTokens: boolean;
  /** The operations that it serves; left out, all. */
  only?: readonly string[];
  /** Those that it cannot serve. */
  without?: readonly string[];
};

export const sides: Record<SideName, Side> = {
  floor: { title: 'by hand', program: 'floor/main.ts', format: 'rest', takesTokens: false },
  rest: { title: 'REST', program: 'sides/service.ts', format: 'rest', takesTokens: true },
  secured: { title: 'REST, row security', program: 'sides/secured.ts', format: 'rest', takesTokens: true },
  trpc: { title: 'tRPC', program: 'sides/service.ts', format: 'trpc', takesTokens: true },
  batch: {
    title: 'tRPC, 10 a batch',
    program: 'sides/service.ts',
    format: 'batch',
    takesTokens: true,
    without: ['bulk-logs', 'login'],
  },
  // It refuses bodies that are arrays.
  stock: {
    title: 'trpc-to-openapi',
    program: 'sides/stock.ts',
    format: 'rest',
    takesTokens: true,
    without: ['bulk-logs'],
  },
  nest: {
    title: 'NestJS, TypeORM',
    program: 'nest/dist/main.js',
    format: 'rest',
    takesTokens: false,
    only: ['list-comments', 'create-log', 'notifications'],
  },
};

export const serves = (name: SideName, operation: string): boolean => {
  const { only, without = [] } = sides[name];
  return (only?.includes(operation) ?? true) && !without.includes(operation);
};

export type Running = { url: string; pid: number };

/** Starts a process that tells its parent where it listens. */
export async function startProgram(
  program: string,
  environment: Record<string, string>,
  pinning: Pinning,
): Promise<Running & { child: ChildProcess }> {
  const child = forkOn(pinning?.server, program, environment);
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`${program} ended with ${String(code)} before it was ready`);
    }),
  ])) as [{ url: string }];
  return { url: message.url, pid: child.pid!, child };
}

/** Runs a program of this folder with a channel to it, on the given cores. */
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
  const file = fileURLToPath(new URL(program, import.meta.url));
  if (cores === undefined) return fork(file, options);
  // taskset becomes the program that it starts, and hands the channel on.
  return fork(file, { ...options, execPath: 'taskset', execArgv: ['-c', cores, process.execPath] });
}

export type Sides = {
  running: ReadonlyMap<SideName, Running>;
  /** Who calls, with a fresh pair each: access tokens last for a quarter of an hour, which is less than a run. */
  callersFor(name: SideName): Promise<Caller[]>;
  stop(): Promise<void>;
};

export async function startSides(
  names: readonly SideName[],
  { databaseUrl, keys, world, pinning }: { databaseUrl: string; keys: string; world: World; pinning: Pinning },
): Promise<Sides> {
  if (names.includes('nest')) prepareNest();
  const tokens = await createTokens(keys);
  const environment = {
    DATABASE_URL: databaseUrl,
    AUTH_KEYS: keys,
    COMPANY_ID: String(world.companyId),
    EMPLOYEE_ID: String(world.employeeId),
  };
  const programs = new Map<string, Running & { child: ChildProcess }>();
  const running = new Map<SideName, Running>();
  const stop = async (): Promise<void> => {
    const alive = [...programs.values()].filter(({ child }) => child.exitCode === null && child.signalCode === null);
    const exits = alive.map(({ child }) => once(child, 'exit'));
    for (const { child } of programs.values()) child.kill();
    await Promise.all(exits);
  };
  try {
    for (const name of names) {
      const { program } = sides[name];
      if (!programs.has(program)) programs.set(program, await startProgram(program, environment, pinning));
      running.set(name, programs.get(program)!);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const callersFor = (name: SideName): Promise<Caller[]> => {
    const now = new Date();
    return Promise.all(
      world.callers.map(async ({ employeeId, sessionId }) => {
        if (!sides[name].takesTokens) return { employeeId, headers: {} };
        const headers = {
          authorization: `Bearer ${await tokens.issueAccess({ sessionId, now })}`,
          'x-refresh-token': await tokens.issueRefresh({
            sessionId,
            generation: 1,
            issuedAt: now,
            expiresAt: sessionEnd(now, now),
          }),
        };
        return { employeeId, headers };
      }),
    );
  };
  return { running, callersFor, stop };
}
