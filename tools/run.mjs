// `node tools/run.mjs FILE.ts [flags]`: runs one of the project's TypeScript programs, packages installed first.

import { runTypeScript } from './lib/run.mjs';

const [file, ...args] = process.argv.slice(2);
if (!file) {
  console.error('Usage: node tools/run.mjs FILE.ts [flags]');
  process.exit(2);
}
process.argv.splice(2, process.argv.length, ...args); // the program sees its own flags alone
await runTypeScript(file);
