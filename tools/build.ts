// `npm run build`: dist/ with the page, the ESM entries and the script tag; prints gzipped sizes beside their budgets
// and fails past a ceiling. `-- --tools` adds dist/tools/, the terminal programs as plain JavaScript, and
// dist/bench_clients.js, the clients that the bench measures: for machines without the npm packages.

import { buildAll, buildClients, weigh } from './lib/bundle/build';
import { bundleTools } from './lib/bundle/bundle_tools';
import { runTool } from './lib/command_line/terminal';

const FLAGS = {
  tools: {
    kind: 'switch',
    help: 'also dist/tools/*.mjs, which need Node and playwright-core alone, and what the bench measures',
  },
} as const;

await runTool('npm run build --', FLAGS, async ({ tools }) => {
  await buildAll();
  if (tools) {
    await bundleTools();
    await buildClients();
  }
  let tooLarge = 0;
  for (const { name, files, kb, budgetKb, ceilingKb } of await weigh()) {
    const verdict = kb > ceilingKb ? 'TOO LARGE' : kb > budgetKb ? `over budget, ceiling ${ceilingKb} KB` : 'ok';
    console.log(`${name}: ${kb.toFixed(1)} KB gzipped of ${budgetKb} KB (${files}) ${verdict}`);
    if (kb > ceilingKb) tooLarge++;
  }
  if (tooLarge > 0) process.exitCode = 1;
});
