import { totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';
import { findMemoryFolder } from './test/support/memory-folder.ts';
import { SlowFilesFirst } from './test/support/slow-files-first.ts';

process.env['TMPDIR'] ??= findMemoryFolder();

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/template.ts', 'test/support/responses-total.ts', 'test/support/built-files.ts'],
    setupFiles: ['test/support/each-file.ts'],
    pool: 'forks',
    isolate: false,
    // Files mostly compute and sometimes wait, for processes and for time to pass: on two cores three at once took 454 s on the
    // embedded database and 280 s on a server, two took 584 and 355. Each needs 1.6 GB.
    maxWorkers: totalmem() > 12e9 ? 3 : 2,
    // Many start processes, and a machine may have other things to do: how long something may take is said where it matters.
    testTimeout: 90_000,
    hookTimeout: 60_000,
    // As in test/support/waiting.ts.
    expect: { poll: { timeout: 30_000 } },
    sequence: { shuffle: { files: true, tests: false }, sequencer: SlowFilesFirst },
    reporters: process.env['CI'] === 'true' ? ['default'] : ['dot'],
  },
});
