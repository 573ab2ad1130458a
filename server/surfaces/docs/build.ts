import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/*
 * What is built from source and served. It is built where the development packages are installed: at `npm ci`, and when it
 * is needed if the source has changed. Without those packages an existing build is served if it is of the current source.
 */

const root = join(import.meta.dirname, '../../..');

export type Build = {
  /** Where the build is. */
  folder: string;
  isCurrent(): boolean;
  /** Notes in a new build of which source it is. */
  mark(folder: string): void;
  /** Builds it if its source has changed. Returns why there is none, or undefined if there is one. */
  prepare(): Promise<string | undefined>;
};

type BuildOptions = {
  folder: string;
  /** Patterns of the files that it is made of. */
  source: string[];
  /** Builds it. */
  script: string;
  /** The development package that the script needs. */
  builder: string;
};

export function createBuild(build: BuildOptions): Build {
  const folder = join(root, build.folder);
  /** The hash of the build's source. The file has no media type, so it is not served. */
  const stampFile = (of: string): string => join(of, '.source');

  function hashSource(): string {
    const hash = createHash('sha256');
    for (const path of globSync(build.source, { cwd: root }).toSorted()) {
      const file = join(root, path);
      if (statSync(file).isFile()) hash.update(`\0${path.replaceAll('\\', '/')}\0`).update(readFileSync(file));
    }
    return hash.digest('hex');
  }

  function isCurrent(): boolean {
    const stamp = stampFile(folder);
    return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashSource();
  }

  return {
    folder,
    isCurrent,
    mark: (made) => writeFileSync(stampFile(made), hashSource()),
    async prepare() {
      if (isCurrent()) return undefined;
      if (!existsSync(join(root, 'node_modules', build.builder, 'package.json')))
        return existsSync(folder)
          ? 'it was built from another source, and the packages that build it are not installed'
          : 'it was not built, and the packages that build it are not installed';
      try {
        await promisify(execFile)(process.execPath, [join(root, build.script)]);
        return undefined;
      } catch (error) {
        const said = String((error as { stderr?: string }).stderr || error).trim();
        return `its build failed: ${said.split('\n')[0]}`;
      }
    },
  };
}
