// `npm run build`: dist/ with the page, the ESM entries and the script tag; prints gzipped sizes beside their budgets and fails past a ceiling.

import { ensurePackages } from './lib/ensure.mjs';

ensurePackages();
const { buildAll, weigh } = await import('./lib/build.mjs');

await buildAll();
let tooLarge = 0;
for (const { name, files, kb, budgetKb, ceilingKb } of await weigh()) {
  const verdict = kb > ceilingKb ? 'TOO LARGE' : kb > budgetKb ? `over budget, ceiling ${ceilingKb} KB` : 'ok';
  console.log(`${name}: ${kb.toFixed(1)} KB gzipped of ${budgetKb} KB (${files}) ${verdict}`);
  if (kb > ceilingKb) tooLarge++;
}
if (tooLarge > 0) process.exitCode = 1;
