import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createTokens } from '../../server/platform/tokens.ts';
import { prepareNest } from './nest-build.ts';
import type { Caller } from '../load/job.ts';
import { atEnd } from '../support/at-end.ts';
import { forkOn } from '../support/fork-on.ts';
import { headersOf } from '../support/headers.ts';
import type { Pinning } from '../support/machine.ts';
import type { Format } from './requests.ts';
import type { SignedIn, World } from '../support/world.ts';

export type SideName = 'floor' | 'bare' | 'rest' | 'secured' | 'unaudited' | 'trpc' | 'batch' | 'stock' | 'nest';

/** The sides of a comparison. Sides of one program are one process with different clients. */
type Side = {
  title: string;
  program: string;
  format: Format;
  /** Whether it authenticates callers. */
  takesTokens: boolean;
  /** The operations that it serves; left out, all. */
  only?: readonly string[];
  /** Those that it cannot serve. */
  without?: readonly string[];
};

export const sides: Record<SideName, Side> = {
  floor: { title: 'by hand', program: 'operations/floor/main.ts', format: 'rest', takesTokens: false },
  bare: {
    title: 'by hand, barest',
    program: 'operations/floor/bare.ts',
    format: 'rest',
    takesTokens: false,
    only: ['list-comments', 'create-log'],
  },
  rest: { title: 'REST', program: 'operations/sides/service.ts', format: 'rest', takesTokens: true },
  secured: { title: 'REST, row security', program: 'operations/sides/secured.ts', format: 'rest', takesTokens: true },
  unaudited: {
    title: 'REST, no audit log',
    program: 'operations/sides/unaudited.ts',
    format: 'rest',
    takesTokens: true,
    only: ['create-log', 'bulk-logs', 'create-comment'],
  },
  trpc: { title: 'tRPC', program: 'operations/sides/service.ts', format: 'trpc', takesTokens: true },
  batch: {
    title: 'tRPC, 10 a batch',
    program: 'operations/sides/service.ts',
    format: 'batch',
    takesTokens: true,
    without: ['bulk-logs', 'login'],
  },
  // It refuses bodies that are arrays.
  stock: {
    title: 'trpc-to-openapi',
    program: 'operations/sides/stock.ts',
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
async function startProgram(
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

export type Sides = {
  running: ReadonlyMap<SideName, Running>;
  /** Who calls, with a fresh pair each: access tokens last for a quarter of an hour, which is less than a run. */
  callersFor(name: SideName, people?: readonly SignedIn[]): Promise<Caller[]>;
};

/** Starts the programs of some sides, until the bench ends. */
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
  atEnd(async () => {
    const alive = [...programs.values()].filter(({ child }) => child.exitCode === null && child.signalCode === null);
    const exits = alive.map(({ child }) => once(child, 'exit'));
    for (const { child } of programs.values()) child.kill();
    await Promise.all(exits);
  });
  for (const name of names) {
    const { program } = sides[name];
    if (!programs.has(program)) programs.set(program, await startProgram(program, environment, pinning));
    running.set(name, programs.get(program)!);
  }
  const callersFor = (name: SideName, people: readonly SignedIn[] = world.callers): Promise<Caller[]> => {
    return Promise.all(
      people.map(async ({ employeeId, sessionId }) => {
        if (!sides[name].takesTokens) return { employeeId, headers: {} };
        return { employeeId, headers: await headersOf(tokens, sessionId) };
      }),
    );
  };
  return { running, callersFor };
}
