import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';

/* What `npm ci` installs: nothing but what the lock file names, byte for byte, from whichever registry is set. */

type Entry = {
  link?: boolean;
  resolved?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};

const read = async (name: string) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');

describe.each(['package-lock.json', 'bench/nest/package-lock.json'])('%s', async (name) => {
  const { packages } = JSON.parse(await read(name)) as { packages: Record<string, Entry> };
  const entries = Object.entries(packages);

  test('has the hash of every package', () => {
    // The others are the project itself and folders in it.
    const registered = entries.filter(([path, { link }]) => path.includes('node_modules/') && !link);
    expect(registered.length).toBeGreaterThan(100);
    const bare = registered.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'));
    expect(bare.map(([path]) => path)).toEqual([]);
  });

  test('has no address of a registry, and lets nothing come from elsewhere', () => {
    const addresses = entries.flatMap(([, { resolved, link }]) => (resolved === undefined || link ? [] : [resolved]));
    expect(addresses).toEqual([]);
    const linked = entries.flatMap(([, { resolved, link }]) => (link ? [resolved ?? ''] : []));
    expect(linked.filter((folder) => !(folder in packages))).toEqual([]);
  });

  test('has what each platform needs, not only the one on which it was written', () => {
    const isThere = (from: string, wanted: string): boolean => {
      const parts = from.split('/node_modules/');
      const folders = parts.map((_, index) => `${parts.slice(0, index + 1).join('/node_modules/')}/`);
      return ['', ...folders].some((folder) => `${folder}node_modules/${wanted}` in packages);
    };
    const lost = entries.flatMap(([path, entry]) =>
      Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
        .filter((wanted) => !isThere(path, wanted))
        .map((wanted) => `${path}: ${wanted}`),
    );
    expect(lost).toEqual([]);
  });
});
