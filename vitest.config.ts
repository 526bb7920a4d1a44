// Three projects: `unit` (everything that Node can run, kernels on Dawn among them), `browser` (real Chromium, two files
// at a time: much of each is waiting) and `servers`, which `npm test` leaves alone.

import { defineConfig } from 'vitest/config';
import { wgslPlugin } from './tools/lib/bundle/wgsl_plugin.ts';
import { softwareVulkan } from './tools/lib/ensure.mjs';

Object.assign(process.env, softwareVulkan()); // before any fork: the loader reads it when a process starts

// Against a test that hangs, not a measure: the machine may be busy with other work.
const HANGS_MS = 300_000;
const BROWSER = ['test/browser/**/*.test.ts', 'test/faults/browser/**/*.test.ts'];
/** Servers of others. `npm run test-servers` runs them, and nothing else does. */
const SERVERS = ['test/servers/**/*.test.ts'];
const POLL = { timeout: 90_000, interval: 20 };

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [wgslPlugin()],
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...BROWSER, ...SERVERS],
          pool: 'forks',
          maxWorkers: 2,
          setupFiles: ['test/setup.ts'],
          expect: { poll: POLL },
          testTimeout: HANGS_MS,
          hookTimeout: HANGS_MS,
        },
      },
      {
        test: {
          name: 'browser',
          include: BROWSER,
          pool: 'forks',
          maxWorkers: 2,
          globalSetup: ['test/browser/build.ts'],
          setupFiles: ['test/setup.ts'],
          expect: { poll: POLL },
          testTimeout: HANGS_MS,
          hookTimeout: HANGS_MS,
        },
      },
      {
        test: {
          name: 'servers',
          include: SERVERS,
          globalSetup: ['test/browser/build.ts'],
          setupFiles: ['test/setup.ts'],
          expect: { poll: POLL },
          testTimeout: HANGS_MS,
          hookTimeout: HANGS_MS,
        },
      },
    ],
  },
});
