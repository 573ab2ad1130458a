import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makePipe, type Pipe } from '../support/pipe.ts';
import { compileCache, endAllProcesses, findFreePort, makeHome, type Home } from '../support/process.ts';
import { waitUntil } from '../support/waiting.ts';

/*
 * However the process is told to end, and whatever became of the reader of its output, it has ended within 15 seconds.
 * Its output are pipes of the operating system here, as in `npm start | tee log`.
 *
 * What it does about signals and outputs is in server/main.ts, whatever it has started. Where a test does not ask for
 * the whole service, support/small-start.ts is started, which opens no database.
 */

const endsWithinMs = 15_000;
/** Twice Ctrl-C within half a second is one wish: npm passes it on as well. */
const betweenSignalsMs = 700;
const root = fileURLToPath(new URL('../..', import.meta.url));
const main = [process.execPath, 'server/main.ts'];
const smallStart = `--import "${fileURLToPath(new URL('../support/small-start.ts', import.meta.url))}"`;
const npmStart = ['npm', 'start'];

let home: Home;
beforeAll(async () => {
  home = await makeHome();
});
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

/** What becomes of the reader of an output. */
type Reader = 'reads' | 'is slow' | 'stops' | 'has stopped' | 'goes' | 'has gone';

/** The pipe in the state that it has when the process starts. */
function pipeWith(reader: Reader): Pipe {
  const pipe = makePipe();
  onTestFinished(() => pipe.remove());
  if (reader === 'has stopped' || reader === 'is slow') pipe.fill();
  if (reader === 'has gone') pipe.closeReader();
  const reading = setInterval(
    () => {
      if (['reads', 'stops', 'goes'].includes(reader)) pipe.read();
      if (reader === 'is slow') pipe.read(100);
    },
    reader === 'is slow' ? 500 : 20,
  );
  onTestFinished(() => clearInterval(reading));
  return {
    ...pipe,
    fill() {
      clearInterval(reading);
      pipe.fill();
    },
    closeReader() {
      clearInterval(reading);
      pipe.closeReader();
    },
  };
}

type Started = {
  url: string;
  /** To the process alone. */
  signal(name: NodeJS.Signals): void;
  /** To the process and all that it started, as a terminal does. */
  signalGroup(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal that ended it, and how long it took since {@link startClock}. */
  ended: Promise<{ code: number | NodeJS.Signals; afterMs: number }>;
};

async function start(
  readers: { stdout: Reader; stderr: Reader },
  {
    command = main,
    environment = {},
    waits = true,
    isWhole = false,
  }: { command?: string[]; environment?: object; waits?: boolean; isWhole?: boolean } = {},
): Promise<Started> {
  const [stdout, stderr] = [pipeWith(readers.stdout), pipeWith(readers.stderr)];
  const port = await findFreePort();
  const { PATH, HOME } = process.env;
  const [program, ...parameters] = command;
  const child = spawn(program!, parameters, {
    cwd: root,
    env: {
      PATH,
      HOME,
      ...compileCache,
      ...(isWhole ? {} : { NODE_OPTIONS: smallStart }),
      PORT: String(port),
      SEED_DEMO: 'false',
      ...home.environment,
      ...environment,
    },
    stdio: ['ignore', stdout.writingEnd, stderr.writingEnd],
    detached: true,
  });
  for (const pipe of [stdout, stderr]) pipe.handOver();
  let toldAt = waits ? undefined : performance.now();
  const tell = (pid: number, name: NodeJS.Signals): void => {
    toldAt ??= performance.now();
    process.kill(pid, name);
  };
  const ended = once(child, 'exit').then(([code, signal]) => ({
    code: (code ?? signal) as number | NodeJS.Signals,
    afterMs: performance.now() - (toldAt ?? 0),
  }));
  onTestFinished(async () => {
    // Nothing of the group may be left, unless a test fails.
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      return;
    }
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  if (waits)
    await waitUntil(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok, {
      timeout: 60_000,
    });
  for (const [pipe, reader] of [
    [stdout, readers.stdout],
    [stderr, readers.stderr],
  ] as const)
    if (reader === 'goes') pipe.closeReader();
    else if (reader === 'stops') pipe.fill();
  return {
    url,
    signal: (name) => tell(child.pid!, name),
    signalGroup: (name) => tell(-child.pid!, name),
    ended,
  };
}

/** Makes the service write to its reader. */
async function makeItLog({ url }: Started): Promise<void> {
  const ask = () => fetch(`${url}/nowhere`).then((answer) => answer.text());
  await Promise.all(Array.from({ length: 20 }, ask));
}

/** A request whose body never comes, for which a stop waits. */
async function beginRequest({ url }: Started): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const head = ['POST /login/ HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 10'];
  socket.write(`${[...head, 'Expect: 100-continue'].join('\r\n')}\r\n\r\n`);
  await once(socket, 'data');
}

function expectInTime({ code, afterMs }: Awaited<Started['ended']>, expected: number): void {
  expect(code).toBe(expected);
  expect(afterMs).toBeLessThan(endsWithinMs);
}

describe.each([
  ['reads', false],
  ['is slow', false],
  ['has stopped', true],
  ['goes', false],
  ['has gone', false],
] as const)('where the reader of standard output %s', (stdout, isWhole) => {
  test('SIGTERM ends the process in order', async () => {
    const service = await start({ stdout, stderr: 'reads' }, { isWhole });
    await makeItLog(service);
    service.signal('SIGTERM');
    expectInTime(await service.ended, 0);
  });
});

describe.each(['stops', 'goes'] as const)('where the reader of both outputs %s', (reader) => {
  const both = { stdout: reader, stderr: reader };

  test('Ctrl-C ends npm, the process and whatever is between', async () => {
    const service = await start(both, { command: npmStart, isWhole: reader === 'stops' });
    await makeItLog(service);
    service.signalGroup('SIGINT');
    expect((await service.ended).afterMs).toBeLessThan(endsWithinMs);
    await expect(fetch(service.url)).rejects.toThrow('fetch failed');
  });

  test('SIGTERM to npm ends npm and the process', async () => {
    const service = await start(both, { command: npmStart, isWhole: reader === 'goes' });
    await makeItLog(service);
    service.signal('SIGTERM');
    expect((await service.ended).afterMs).toBeLessThan(endsWithinMs);
    await expect(fetch(service.url)).rejects.toThrow('fetch failed');
  });

  test('a second SIGINT ends it at once, while the first still waits for a request', async () => {
    const service = await start(both);
    await makeItLog(service);
    await beginRequest(service);
    service.signal('SIGINT');
    const again = setInterval(() => service.signal('SIGINT'), betweenSignalsMs);
    onTestFinished(() => clearInterval(again));
    const { code, afterMs } = await service.ended;
    clearInterval(again);
    expect(code).toBe(1);
    expect(afterMs).toBeLessThan(endsWithinMs / 2);
  });

  test('an error that nothing expected ends it', async () => {
    const bomb = 'data:text/javascript,process.on("SIGUSR2",()=>{throw new Error("unexpected")})';
    const service = await start(both, { command: [process.execPath, '--import', bomb, 'server/main.ts'] });
    await makeItLog(service);
    service.signal('SIGUSR2');
    expectInTime(await service.ended, 1);
  });
});

test('a request that never ends is waited for no longer than that, though nobody reads of it', async () => {
  const service = await start({ stdout: 'has stopped', stderr: 'has stopped' }, { isWhole: true });
  await beginRequest(service);
  service.signal('SIGINT');
  expectInTime(await service.ended, 0);
});

test.each(['has stopped', 'has gone'] as const)('a refused start ends where the reader %s', async (reader) => {
  const service = await start({ stdout: reader, stderr: reader }, { environment: { PORT: 'none' }, waits: false });
  expectInTime(await service.ended, 1);
});
