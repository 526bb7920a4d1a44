// Two projects: `unit` (everything that Node can run, kernels on Dawn among them) and `browser` (real Chromium, one file at a time).

import { defineConfig } from 'vitest/config';
import { softwareVulkan } from './tools/lib/ensure.mjs';

Object.assign(process.env, softwareVulkan()); // before any fork: the loader reads it when a process starts

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/browser/**', 'test/bench/**'],
          pool: 'forks',
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 1,
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
