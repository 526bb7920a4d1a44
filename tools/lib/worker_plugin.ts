// The worker's code for src/engine/page/worker_source.ts. In the package and the script tag it is text inside the
// bundle; the page has it as a file of its own, so that the page is there before the worker is read. All start it from
// a blob of their own making, which a page that wants trusted types needs. Vite's `?worker&inline` would start it for
// us, as plain text.

import { createHash } from 'node:crypto';
import path from 'node:path';
import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite';
import { build } from 'vite';
import { ROOT } from './ensure.mjs';
import { comesAtOnce, type Graph } from './first_file.ts';
import { optionsPlugin } from './options_plugin.ts';
import { orderPlugin } from './order_plugin.ts';
import { wgslPlugin } from './wgsl_plugin.ts';
import { takeApart } from './worker_parts.ts';

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

/** One file of all that the worker does not import later. */
const CORE = { name: (id: string, graph: Graph) => (comesAtOnce(id, graph) ? 'core' : null) };

/** In a bundle of one file, what is imported later costs the least where it is imported at once. */
export function allAtOnce(): Plugin {
  return {
    name: 'all-at-once',
    enforce: 'pre',
    transform(code, id) {
      if (!id.includes('/src/') || !code.includes('arrived(import(')) return null;
      const imports: string[] = [];
      const rest = code.replace(LATER, (_, names: string, file) => {
        imports.push(`import { ${names} } from ${JSON.stringify(file)};`);
        return '';
      });
      if (rest.includes('arrived(import(')) throw new Error(`${id}: not of the form of LATER.`);
      return [...new Set(imports)].join('') + rest;
    },
  };
}

/** How the engine's sources import a part. */
const LATER = /const \{ ([\w ,]+) \} = await arrived\(import\('(\.[^']+)'\)\);/g;

const ENTRY = path.join(ROOT, 'src/engine/worker/worker.ts');

async function bundle(isWhole: boolean): Promise<Rolldown.OutputChunk[]> {
  const output = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [wgslPlugin(), optionsPlugin(), orderPlugin(isWhole), isWhole && allAtOnce()],
    build: {
      write: false,
      target: 'es2022',
      reportCompressedSize: false,
      lib: { entry: ENTRY, formats: ['es'] }, // as a program, it would preload what it imports later, as pages do
      rolldownOptions: {
        checks: { bundlerTimings: false },
        output: {
          ...(isWhole ? { codeSplitting: false } : { chunkFileNames: '[name].js', codeSplitting: { groups: [CORE] } }),
          ...OUTPUT,
          comments: { annotation: false, jsdoc: false, legal: true }, // no bundler reads a worker again
        },
      },
    },
  });
  const [result] = [output].flat() as Rolldown.RolldownOutput[];
  return (result?.output ?? []).map((chunk) => {
    if (chunk.type !== 'chunk') throw new Error(`The worker came with ${chunk.fileName}.`);
    return chunk;
  });
}

/** The engine's worker as one module. */
export async function bundleWorker(): Promise<string> {
  const [chunk, ...others] = await bundle(true);
  if (!chunk || others.length > 0) throw new Error(`The worker became ${others.length + 1} files.`);
  return chunk.code;
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

/**
 * The worker as files beside the page's scripts: its core, which the page fetches at once, and its parts. A dev server
 * has the text.
 */
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
      const whole = await bundleWorker();
      if (!isBuild) return TEXT(whole);
      const { core, parts } = takeApart(await bundle(false));
      const emit = (file: string, source: string) =>
        this.emitFile({ type: 'asset', fileName: `assets/${file}`, source });
      for (const [file, code] of Object.entries(parts)) emit(file, code);
      integrity = integrityOf(core);
      name = `worker-${createHash('sha256').update(core).digest('hex').slice(0, 8)}.js`;
      emit(name, core);
      // Vite would look for a file of the sources behind `new URL('...', import.meta.url)`.
      return `const here = import.meta.url; export const workerText = ''; export const workerFile = {
        url: new URL(${JSON.stringify(name)}, here).href, integrity: '${integrity}',
        whole: { url: new URL('../vivace_worker.js', here).href, integrity: '${integrityOf(whole)}' } };`;
    },
    transformIndexHtml: {
      order: 'post',
      handler: () => (name === '' ? [] : [preload(`./assets/${name}`, integrity)]),
    },
  };
}

const integrityOf = (code: string) => `sha256-${createHash('sha256').update(code).digest('base64')}`;

/** A line of the page that begins to fetch a file. With other words than those of `fetch` it would come twice. */
function preload(href: string, integrity: string): HtmlTagDescriptor {
  const attrs = { rel: 'preload', as: 'fetch', crossorigin: '', fetchpriority: 'low', integrity, href };
  return { tag: 'link', attrs, injectTo: 'head' };
}
