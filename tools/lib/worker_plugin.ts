// The worker's code for src/engine/page/worker_source.ts. In the package and the script tag it is text inside the
// bundle; the page has it as a file of its own, so that the page is there before the worker is read. All start it from
// a blob of their own making, which a page that wants trusted types needs. Vite's `?worker&inline` would start it for
// us, as plain text.

import { createHash } from 'node:crypto';
import path from 'node:path';
import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite';
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

const TEXT = (code: string) => `export const workerText = ${JSON.stringify(code)}; export const workerFile = null;`;

/** The worker as text inside the bundle. */
export function workerPlugin(): Plugin {
  return {
    name: 'worker-source',
    enforce: 'pre',
    async load(id) {
      return id.endsWith(PLACE) ? TEXT(await bundleWorker()) : null;
    },
  };
}

/** The worker as a file beside the page's scripts, which the page fetches at once. A dev server has the text. */
export function workerFilePlugin(): Plugin {
  let name = '';
  let integrity = '';
  let isBuild = false;
  return {
    name: 'worker-file',
    enforce: 'pre',
    configResolved({ command }) {
      isBuild = command === 'build';
    },
    async load(id) {
      if (!id.endsWith(PLACE)) return null;
      const code = await bundleWorker();
      if (!isBuild) return TEXT(code);
      const hash = createHash('sha256').update(code);
      integrity = `sha256-${hash.copy().digest('base64')}`;
      name = `worker-${hash.digest('hex').slice(0, 8)}.js`;
      this.emitFile({ type: 'asset', fileName: `assets/${name}`, source: code });
      // Vite would look for a file of the sources behind `new URL('...', import.meta.url)`.
      return `const here = import.meta.url; export const workerText = '';
        export const workerFile = { url: new URL(${JSON.stringify(name)}, here).href, integrity: '${integrity}' };`;
    },
    transformIndexHtml: {
      order: 'post',
      handler: () => (name === '' ? [] : [preload(`./assets/${name}`, integrity)]),
    },
  };
}

/** A line of the page that begins to fetch a file. With other words than those of `fetch` it would come twice. */
function preload(href: string, integrity: string): HtmlTagDescriptor {
  const attrs = { rel: 'preload', as: 'fetch', crossorigin: '', fetchpriority: 'low', integrity, href };
  return { tag: 'link', attrs, injectTo: 'head' };
}
