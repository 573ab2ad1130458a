import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';

/** Several data folders of 45 MB at once, and the copies of databases and of the repository. */
const bytesMin = 4 * 1024 ** 3;

/**
 * A folder whose files are in memory, for temporary files; undefined where there is none with enough room. Copying a data
 * folder costs ten times as much on a disk.
 */
export function findMemoryFolder(): string | undefined {
  const folder = '/dev/shm';
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    // Tests run programs from there.
    if (/^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(readFileSync('/proc/mounts', 'utf8'))) return undefined;
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= bytesMin ? folder : undefined;
  } catch {
    return undefined;
  }
}
