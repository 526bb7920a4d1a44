// `npm run wgsl -- KERNEL [flags]`: prints what is compiled for a kernel. Exit code 0, 1 where the flags allow no such
// kernel, 2 for a command line that cannot be understood.

import path from 'node:path';
import { runnerImport } from 'vite';
import { wgslPlugin } from '../lib/bundle/wgsl_plugin.ts';
import { ROOT } from '../lib/ensure.mjs';

process.stdout.on('error', () => process.exit(1)); // the reader of a pipe left
// Shaders are imported as text with marks, which takes the plugin.
const { module } = await runnerImport<typeof import('./command')>(path.join(ROOT, 'tools/wgsl/command.ts'), {
  configFile: false,
  root: ROOT,
  logLevel: 'error',
  plugins: [wgslPlugin()],
});
process.exitCode = await module.wgslCommand(process.argv.slice(2));
