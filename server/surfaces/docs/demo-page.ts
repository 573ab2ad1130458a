import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/*
 * The build of the demo page. It is made where the packages for development are: at `npm ci`, and at a start whose source
 * is another one. Without those packages a build that is there is served, as long as it is that of this source.
 */

const root = join(import.meta.dirname, '../../..');
const web = 'client-sdk/examples/web';

export const pageFolder = join(root, web, 'dist');
/** Names the source that the build was made of. It has no media type, so it is not served. */
const stampFile = (folder: string): string => join(folder, '.source');

/** Changes with each file of the page and of the client, and with the packages that build it. */
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

/** Builds the page where it is not that of its source. Answers why it cannot be served; undefined where it can. */
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
