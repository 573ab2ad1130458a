import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { holdingItsResponses } from './held-responses.ts';
import { compileCache, launch, type ServiceProcess } from './process.ts';

/* The pages for readers, and their commands run as a reader would run them. */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Code on a page: what it is written in and the heading that it stands under. */
export type Block = { heading: string; language: string; text: string };

/** All code of a page that says what it is written in. */
export async function blocksOf(page: string): Promise<Block[]> {
  const text = await readFile(join(root, page), 'utf8');
  const parts = text.split(/^#+ (.*)$/m);
  return parts.flatMap((part, index) => {
    if (index % 2 === 1) return [];
    const heading = index === 0 ? '' : parts[index - 1]!;
    return [...part.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```/gm)].map(([, indent, language, code]) => ({
      heading,
      language: language!,
      text: code!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }));
  });
}

/** Every page for readers. */
export async function findPages(): Promise<string[]> {
  const folders = ['.', 'docs', 'docs/decisions', 'client-sdk', 'client-sdk/docs', 'client-sdk/examples', 'bench'];
  const found = await Promise.all(
    folders.map(async (folder) => (await readdir(join(root, folder))).map((name) => join(folder, name))),
  );
  return found.flat().filter((name) => name.endsWith('.md'));
}

/** The folder of a reader who has just got the service: all of it, and no data yet. */
export async function makeCheckout(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'wms-checkout-'));
  for (const name of await readdir(root))
    if (!['.data', '.git'].includes(name)) await symlink(join(root, name), join(folder, name));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

type Environment = Record<string, string>;

/** The Node that the service brings along is the first to be found. */
const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;

/** `npm start` in that folder, as soon as it is ready. */
export function startIn(folder: string, environment: Environment): Promise<ServiceProcess> {
  const NODE_OPTIONS = holdingItsResponses.parameters.join(' ');
  const holding = { ...holdingItsResponses.environment, NODE_OPTIONS };
  return launch(
    ['sh', '-c', `cd '${folder}' && exec npm start`],
    { PATH: path, ...holding, ...environment },
    'ready at ',
  );
}

/** Runs commands one after the other in that folder; the first that fails ends them and is thrown with what it said. */
export async function runShell(folder: string, commands: string, environment: Environment = {}): Promise<string> {
  const { HOME } = process.env;
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: folder,
    env: { HOME, PATH: path, ...compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let said = '';
  shell.stdout.on('data', (chunk: Buffer) => void (stdout += String(chunk)));
  shell.stderr.on('data', (chunk: Buffer) => void (said += String(chunk)));
  const [code] = (await once(shell, 'close')) as [number | null];
  if (code !== 0) throw new Error(`these commands ended with ${code}:\n${commands}\n${said}\n${stdout}`);
  return stdout;
}
