import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/template.ts', 'test/support/responses-total.ts'],
    pool: 'forks',
    // Each file has a database of its own; more files at once than cores only make each other late.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    sequence: { shuffle: { files: true, tests: false } },
    reporters: process.env['CI'] === 'true' ? ['default'] : ['dot'],
  },
});
