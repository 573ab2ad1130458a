import { defineConfig } from 'vitest/config';
import { findMemoryFolder } from './test/support/memory-folder.ts';

process.env['TMPDIR'] ??= findMemoryFolder();

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/template.ts', 'test/support/responses-total.ts', 'test/support/built-files.ts'],
    setupFiles: ['test/support/each-file.ts'],
    pool: 'forks',
    isolate: false,
    // Each file has a database of its own; more files at once than cores only make each other late.
    maxWorkers: 2,
    // Many start processes, and a machine may have other things to do: how long something may take is said where it matters.
    testTimeout: 90_000,
    hookTimeout: 60_000,
    sequence: { shuffle: { files: true, tests: false } },
    reporters: process.env['CI'] === 'true' ? ['default'] : ['dot'],
  },
});
