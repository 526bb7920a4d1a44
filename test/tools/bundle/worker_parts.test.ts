// The worker in parts: what a part takes from the core is the core's own, whatever its names are.

import type { Rolldown } from 'vite';
import { expect, test } from 'vitest';
import { takeApart } from '../../../tools/lib/bundle/worker_parts';

const chunk = (name: string, code: string, imports: string[], dynamicImports: string[] = []) =>
  ({ name, fileName: `${name}.js`, code, imports, dynamicImports, isEntry: false }) as unknown as Rolldown.OutputChunk;

test.each([...'abcdefghijklmnopqrstuvwxyz'])('a part takes %s of the core', async (name) => {
  const { core, parts } = takeApart(
    [
      chunk('core', `const ${name}="of the core";const found=import("./more.js");export{${name} as taken};`, []),
      chunk('more', 'import{taken as x}from"./core.js";const told=x;export{told};', ['core.js']),
    ],
    'page',
  );
  const given = Object.fromEntries(
    Object.entries(parts).map(([file, code]) => [file, new Function(`return ${code}`)()]),
  );
  const run = new Function('globalThis', `${core};return found`);
  expect(await run({ vivaceGiven: given })).toEqual({ told: 'of the core' });
});
