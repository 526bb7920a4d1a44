// `npm run build`: dist/ with the page, the ESM entry and the script tag; prints gzipped sizes and fails when one is over its budget.

import { ensurePackages } from './lib/ensure.mjs';

ensurePackages();
const { buildAll, weigh } = await import('./lib/build.mjs');

await buildAll();
let over = 0;
for (const { name, file, bytes, budget } of await weigh()) {
  const size = (bytes / 1000).toFixed(1);
  const verdict = bytes > budget ? 'OVER BUDGET' : 'ok';
  console.log(`${name}: ${size} KB gzipped of ${budget / 1000} KB (${file}) ${verdict}`);
  if (bytes > budget) over++;
}
if (over > 0) process.exitCode = 1;
