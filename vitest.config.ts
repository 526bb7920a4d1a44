import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

// Kernel tests run on Dawn for Node. On a machine with no GPU driver it finds SwiftShader, the software adapter that
// Debian's Chromium brings, when the test processes start with these two variables.
const chromium = '/usr/lib/chromium';
if (existsSync(`${chromium}/vk_swiftshader_icd.json`)) {
  process.env.VK_ICD_FILENAMES ??= `${chromium}/vk_swiftshader_icd.json`;
  process.env.LD_LIBRARY_PATH = [process.env.LD_LIBRARY_PATH, chromium].filter(Boolean).join(':');
}

export default defineConfig({
  test: {
    pool: 'forks',
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**'],
    testTimeout: 60_000,
  },
});
