import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { atEndOfFile } from '../support/file-end.ts';
import { compileCache } from '../support/process.ts';
import type { Service } from '../support/service.ts';
import { waitUntil } from '../support/waiting.ts';

const examples = join(import.meta.dirname, '../../client-sdk/examples');

let made: string | undefined;

/** Where the scripts of this test file run, and leave what they write; removed after the file. */
export function scriptFolder(): string {
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), 'wms-examples-'));
  atEndOfFile(async () => {
    made = undefined;
    rmSync(folder, { recursive: true });
  });
  made = folder;
  return folder;
}

/** Writes a file for a script to read; answers its path. */
export async function givenFile(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(scriptFolder(), name);
  await writeFile(path, content);
  return path;
}

export type Settings = Record<string, string>;

/** What a script must know to act as somebody: an API key of theirs, beside the rest. */
export async function settingsOf(
  { url }: Pick<Service, 'url'>,
  actor: Actor,
  scopes = ['read', 'write'],
): Promise<Settings> {
  const { status, body } = await actor.post('/api/api-keys/', { name: 'Script', scopes });
  if (status !== 200) throw new Error(`no key was made: ${JSON.stringify(body)}`);
  return { WMS_URL: url, WMS_API_KEY: body.key };
}

export type Ended = { code: number | NodeJS.Signals; stdout: string; stderr: string };

export type Script = {
  stdout(): string;
  stderr(): string;
  /** Resolves when the given text is in what it has said. */
  said(text: string, where?: 'stdout' | 'stderr'): Promise<void>;
  signal(name: NodeJS.Signals): void;
  type(text: string): void;
  ended: Promise<Ended>;
};

/** Starts a script as people do: a process of its own, told by its command line and its environment alone. */
export function startScript(name: string, parameters: string[], settings: Settings = {}, input?: string): Script {
  return startProgram(process.execPath, [join(examples, name), ...parameters], settings, input);
}

/** The same for any program. */
export function startProgram(program: string, parameters: string[], settings: Settings = {}, input?: string): Script {
  const { PATH, HOME } = process.env;
  const child = spawn(program, parameters, {
    cwd: scriptFolder(),
    env: { PATH, HOME, ...compileCache, TZ: 'UTC', ...settings },
    stdio: 'pipe',
  });
  const said = { stdout: '', stderr: '' };
  for (const where of ['stdout', 'stderr'] as const)
    child[where].setEncoding('utf8').on('data', (chunk: string) => void (said[where] += chunk));
  // A script that has ended reads nothing more.
  child.stdin.on('error', () => {});
  if (input !== undefined) child.stdin.end(input);

  const ended = once(child, 'close').then(([code, signal]): Ended => {
    const secret = settings['WMS_API_KEY'];
    if (secret !== undefined && (said.stdout + said.stderr).includes(secret)) throw new Error('the key was printed');
    return { code: (code ?? signal) as number | NodeJS.Signals, ...said };
  });
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  onTestFinished(async () => {
    if (!hasEnded) child.kill('SIGKILL');
    await ended;
  });
  return {
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    async said(text, where = 'stdout') {
      await waitUntil(() => hasEnded || said[where].includes(text), { timeout: 60_000 });
      if (!said[where].includes(text)) throw new Error(`it never said "${text}": ${said.stdout}${said.stderr}`);
    },
    signal: (name) => void child.kill(name),
    type: (text) => void child.stdin.write(text),
    ended,
  };
}

/** Runs a script to its end. */
export async function runScript(
  name: string,
  parameters: string[],
  settings: Settings = {},
  input = '',
): Promise<Ended> {
  return startScript(name, parameters, settings, input).ended;
}
