import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extract } from 'tar';
import { clientPackage, tarballName } from '../../server/surfaces/docs/client-package.ts';
import { startProgram, type Ended, type Script, type Settings } from '../examples/run-script.ts';
import { atEndOfFile } from '../support/file-end.ts';

/** The command as it is published, unpacked, and a home of its own for what it stores. */
export type Wms = {
  home: string;
  /** Where `wms login` stores what it knows. */
  signInFile: string;
  start(parameters: string[], settings?: Settings, input?: string): Script;
  run(parameters: string[], settings?: Settings, input?: string): Promise<Ended>;
  /** Runs it by another program, whose parameters stand before it. */
  runBy(by: string[], parameters: string[]): Promise<Ended>;
};

let folder: string | undefined;

async function unpack(): Promise<string> {
  if (folder !== undefined) return folder;
  const made = mkdtempSync(join(tmpdir(), 'wms-command-'));
  folder = made;
  atEndOfFile(async () => {
    folder = undefined;
    rmSync(made, { recursive: true });
  });
  const problem = await clientPackage.prepare();
  if (problem !== undefined) throw new Error(problem);
  const cwd = join(made, 'node_modules/work-management-client');
  mkdirSync(cwd, { recursive: true });
  await extract({ file: join(clientPackage.folder, tarballName), cwd, strip: 1 });
  return made;
}

let homes = 0;

/** The command for one more person. */
export async function openWms(own: Settings = {}): Promise<Wms> {
  const unpacked = await unpack();
  const program = join(unpacked, 'node_modules/work-management-client/dist/wms.js');
  const home = join(unpacked, `home-${(homes += 1)}`);
  mkdirSync(home);
  const parametersOf = (parameters: string[]): string[] => [program, ...parameters];
  const settings = { XDG_CONFIG_HOME: home, ...own };
  return {
    home,
    signInFile: join(home, 'wms/sign-in.json'),
    start: (parameters, more = {}, input) =>
      startProgram(process.execPath, parametersOf(parameters), { ...settings, ...more }, input),
    run: async (parameters, more = {}, input = '') =>
      startProgram(process.execPath, parametersOf(parameters), { ...settings, ...more }, input).ended,
    runBy: async ([by, ...before], parameters) =>
      startProgram(by!, [...before, process.execPath, ...parametersOf(parameters)], settings, '').ended,
  };
}
