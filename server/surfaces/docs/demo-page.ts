import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/*
 * The build of the demo page. It is built where the development packages are installed: at `npm ci`, and at a start if
 * the source has changed. Without those packages an existing build is served if it is of the current source.
 */

const root = join(import.meta.dirname, '../../..');
const web = 'client-sdk/examples/web';

export const pageFolder = join(root, web, 'dist');
/** The hash of the build's source. The file has no media type, so it is not served. */
const stampFile = (folder: string): string => join(folder, '.source');

/** Hashes all files of the page and of the client, and the packages that build it. */
function hashSource(): string {
  const hash = createHash('sha256');
  const patterns = [
    'client-sdk/src/**',
    ...['package.json', 'index.html', 'vite.ts', 'src/**', 'public/**'].map((one) => `${web}/${one}`),
  ];
  for (const path of globSync(patterns, { cwd: root }).toSorted()) {
    const file = join(root, path);
    if (statSync(file).isFile()) hash.update(`\0${path.replaceAll('\\', '/')}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

export const markPage = (folder: string): void => writeFileSync(stampFile(folder), hashSource());

export function isPageCurrent(): boolean {
  const stamp = stampFile(pageFolder);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashSource();
}

/** Builds the page if its source has changed. Returns why it cannot be served, or undefined if it can. */
export async function preparePage(): Promise<string | undefined> {
  if (isPageCurrent()) return undefined;
  if (!existsSync(join(root, 'node_modules/vite/package.json')))
    return existsSync(pageFolder)
      ? 'it was built from another source, and the packages that build it are not installed'
      : 'it was not built, and the packages that build it are not installed';
  try {
    await promisify(execFile)(process.execPath, [join(root, web, 'vite.ts')]);
    return undefined;
  } catch (error) {
    return `its build failed: ${
      String((error as { stderr?: string }).stderr || error)
        .trim()
        .split('\n')[0]
    }`;
  }
}
