// The worker's code as text inside src/engine/page/worker_source.ts: the page, the package and the script tag start it
// from a blob of their own making, which a page that wants trusted types needs. Vite's `?worker&inline` would start it
// for us, as plain text.

import path from 'node:path';
import type { Plugin, Rolldown } from 'vite';
import { build } from 'vite';
import { ROOT } from './ensure.mjs';
import { optionsPlugin } from './options_plugin.ts';
import { orderPlugin } from './order_plugin.ts';
import { wgslPlugin } from './wgsl_plugin.ts';

const PLACE = '/src/engine/page/worker_source.ts';

/**
 * Every bundle is ASCII: a classic script without a charset is read in the charset of its page, which may be
 * windows-1252. Texts of templates with a tag are left as they are; template_plugin escapes ours.
 */
export const MINIFY = { compress: true, mangle: true, codegen: { removeWhitespace: true, asciiOnly: true } };

/**
 * Output of every bundle. Constants stay `const`, which lets the minifier put a value where it is used once; Vite makes
 * each a `var`.
 */
export const OUTPUT = { minify: MINIFY, topLevelVar: false };

/** The engine's worker as one module. @returns {Promise<string>} */
export async function bundleWorker() {
  const output = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [wgslPlugin(), optionsPlugin(), orderPlugin()],
    build: {
      write: false,
      target: 'es2022',
      reportCompressedSize: false,
      rolldownOptions: {
        checks: { bundlerTimings: false },
        input: path.join(ROOT, 'src/engine/worker/worker.ts'),
        output: {
          format: 'es',
          codeSplitting: false,
          ...OUTPUT,
          comments: { annotation: false, jsdoc: false, legal: true }, // no bundler reads a worker again
        },
      },
    },
  });
  const [result] = [output].flat() as Rolldown.RolldownOutput[];
  const chunks = result?.output ?? [];
  if (chunks.length !== 1 || chunks[0]?.type !== 'chunk') throw new Error(`The worker became ${chunks.length} files.`);
  return chunks[0].code;
}

export function workerPlugin(): Plugin {
  return {
    name: 'worker-source',
    enforce: 'pre',
    async load(id) {
      if (!id.endsWith(PLACE)) return null;
      return `export const workerSource = ${JSON.stringify(await bundleWorker())};`;
    },
  };
}
