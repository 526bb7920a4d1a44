// The worker's code for src/engine/page/worker_code/worker_source.ts: files beside the scripts of the page and of the
// tag, modules of the package, which a bundler puts where it wants, and text in other bundles. All start it from a blob
// of their own making, which a page that wants trusted types needs. Vite's `?worker&inline` would start it for us, as
// plain text.

import { createHash } from 'node:crypto';
import path from 'node:path';
import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite';
import { build, type InlineConfig } from 'vite';
import { ROOT } from '../ensure.mjs';
import { coreFile } from './first_file.ts';
import { licensePlugin } from './license_plugin.ts';
import { optionsPlugin } from './options_plugin.ts';
import { orderPlugin } from './order_plugin.ts';
import { wgslPlugin } from './wgsl_plugin.ts';
import { takeApart } from './worker_parts.ts';

const PLACE = '/src/engine/page/worker_code/worker_source.ts';

/**
 * Every bundle is ASCII: a classic script without a charset is read in the charset of its page, which may be
 * windows-1252. Texts of templates with a tag are left as they are; template_plugin escapes ours.
 */
export const MINIFY = { compress: true, mangle: true, codegen: { removeWhitespace: true, asciiOnly: true } };

/** Of no use in what no bundler takes apart again: notes of what may be left out. */
const COMMENTS = { annotation: false, jsdoc: false, legal: true };

/**
 * Output of every bundle. Constants stay `const`, which lets the minifier put a value where it is used once; Vite makes
 * each a `var`. A package's entry is one part for a bundler, which leaves out all or nothing of it.
 */
export const OUTPUT = { minify: MINIFY, topLevelVar: false, comments: COMMENTS };

/** In a bundle of one file, what is imported later costs the least where it is imported at once. */
export function allAtOnce(): Plugin {
  return {
    name: 'all-at-once',
    enforce: 'pre',
    transform(code, id) {
      if (!id.includes('/src/') || !code.includes('arrived(import(')) return null;
      const imports = new Map<string, Set<string>>();
      const rest = code.replace(LATER, (_, names: string, file) => {
        imports.set(file, new Set([...(imports.get(file) ?? []), ...names.split(', ')]));
        return '';
      });
      if (rest.includes('arrived(import(')) throw new Error(`${id}: not of the form of LATER.`);
      return (
        [...imports].map(([file, names]) => `import { ${[...names]} } from ${JSON.stringify(file)};`).join('') + rest
      );
    },
  };
}

/** How the engine's sources import a part. */
const LATER = /const \{ ([\w ,]+) \} = await arrived\(import\('(\.[^']+)'\)\);/g;

const ENTRY = path.join(ROOT, 'src/engine/worker/worker.ts');

/** What a build of all files has bundled so far. */
let bundled: Map<boolean, Promise<Rolldown.OutputChunk[]>> | null = null;

/** Runs a build of several bundles, which share the worker: it is bundled once for all. */
export async function bundlingOnce(run: () => Promise<void>): Promise<void> {
  bundled = new Map();
  try {
    await run();
  } finally {
    bundled = null;
  }
}

function bundle(isWhole: boolean): Promise<Rolldown.OutputChunk[]> {
  const made = bundled?.get(isWhole) ?? bundleAnew(isWhole);
  bundled?.set(isWhole, made);
  return made;
}

/** @param isWhole one file with all parts. If not, a core and its parts. */
export function workerConfig(isWhole: boolean): InlineConfig {
  return {
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [wgslPlugin(), optionsPlugin(true), orderPlugin(isWhole), isWhole && allAtOnce(), licensePlugin()],
    build: {
      write: false,
      target: 'es2022',
      reportCompressedSize: false,
      lib: { entry: ENTRY, formats: ['es'] }, // as a program, it would preload what it imports later, as pages do
      rolldownOptions: {
        checks: { bundlerTimings: false },
        treeshake: { manualPureFunctions: ['Object.freeze'] }, // a library freezes a table of what is left out
        output: {
          ...(isWhole
            ? { codeSplitting: false }
            : { chunkFileNames: '[name].js', codeSplitting: { groups: [coreFile()] } }),
          ...OUTPUT,
        },
      },
    },
  };
}

async function bundleAnew(isWhole: boolean): Promise<Rolldown.OutputChunk[]> {
  const output = await build(workerConfig(isWhole));
  const [result] = [output].flat() as Rolldown.RolldownOutput[];
  return (result?.output ?? []).map((chunk) => {
    if (chunk.type !== 'chunk') throw new Error(`The worker came with ${chunk.fileName}.`);
    return chunk;
  });
}

/** The engine's worker as one module. */
async function bundleWorker(): Promise<string> {
  const [chunk, ...others] = await bundle(true);
  if (!chunk || others.length > 0) throw new Error(`The worker became ${others.length + 1} files.`);
  return chunk.code;
}

/**
 * The worker with all parts as one script. A worker runs it. A page that may not read the file runs it too, and is
 * handed the code as text (src/embed/fetch/hand_over.ts).
 */
export async function wholeScript(): Promise<string> {
  const handOver = `script.vivacePart='('+worker+')()'`;
  const start = `worker=>{const script=globalThis.document?.currentScript;if(script)${handOver};else worker()}`;
  return `(${start})(function(){'use strict';${await bundleWorker()}\n});`;
}

const TEXT = (code: string) => sourceOf({ workerText: JSON.stringify(code) });

/** What the build puts in the place of src/engine/page/worker_code/worker_source.ts. */
const sourceOf = ({ workerText = "''", workerFile = 'null', workerTexts = 'null' }) =>
  `export const workerText = ${workerText}, workerFile = ${workerFile}, workerTexts = ${workerTexts};`;

const hashOf = (code: string) => createHash('sha256').update(code).digest('hex').slice(0, 8);

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

const MODULE = /^worker:(.+)\.js$/;

/**
 * The worker as modules that export texts, which the page imports when they are needed: its core, and its parts. Their
 * names have the hash of their content, so that no bundle finds one of another version.
 */
export function workerModulesPlugin(): Plugin {
  const texts = new Map<string, string>();
  return {
    name: 'worker-modules',
    enforce: 'pre',
    resolveId: (id) => (MODULE.test(id) ? { id, moduleSideEffects: false } : null),
    async load(id) {
      if (MODULE.test(id)) return `export default ${JSON.stringify(texts.get(id))};`;
      if (!id.endsWith(PLACE)) return null;
      const { core, parts } = takeApart(await bundle(false), 'page');
      const moduleOf = (file: string, code: string) => {
        texts.set(`worker:${file}`, code);
        return `() => import('worker:${file}')`;
      };
      const others = Object.entries(parts).map(([file, code]) => `'${file}': ${moduleOf(file, code)}`);
      return sourceOf({ workerTexts: `{ core: ${moduleOf(`core-${hashOf(core)}.js`, core)}, parts: { ${others} } }` });
    },
  };
}

interface WorkerFiles {
  /** The folder of the files, below the output. */
  folder: string;
  /** An expression: the address of the script. */
  here: string;
  /** From there: the folder, and the worker with all parts. */
  beside: string;
  whole: string;
  /** True if pages that may not read files run the worker with all parts as a script. */
  hasScript: boolean;
}

/** The worker as files: its core, and its parts. A dev server has the text. */
export function workerFilePlugin({ folder, here, beside, whole: wholeFile, hasScript }: WorkerFiles): Plugin {
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
      if (!isBuild) return TEXT(await bundleWorker());
      const whole = await wholeScript();
      const { core, parts } = takeApart(await bundle(false), 'files');
      const emit = (file: string, source: string) =>
        this.emitFile({ type: 'asset', fileName: `${folder}/${file}`, source });
      for (const [file, code] of Object.entries(parts)) emit(file, code);
      integrity = integrityOf(core);
      name = `worker-${hashOf(core)}.js`;
      emit(name, core);
      // Vite would look for a file of the sources behind `new URL('...', import.meta.url)`.
      const address = (file: string) => `new URL(${JSON.stringify(file)}, here).href`;
      const classic = hasScript ? address(`${wholeFile}?${hashOf(whole)}`) : null; // no copy of another version
      const fileOf = (file: string, code: string) =>
        `url: ${address(file)}, integrity: '${integrityOf(code)}', script: ${classic}`;
      const workerFile = `{ ${fileOf(beside + name, core)}, whole: { ${fileOf(wholeFile, whole)} } }`;
      return `const here = ${here};${sourceOf({ workerFile })}`;
    },
    transformIndexHtml: {
      order: 'post',
      handler: () => (name === '' ? [] : [preload(`./${folder}/${name}`, integrity)]),
    },
  };
}

/** The page fetches the core at once, so that it is there before a model is chosen. */
export const BESIDE_PAGE = {
  folder: 'assets',
  here: 'import.meta.url',
  beside: '',
  whole: '../vivace_worker.js',
  hasScript: false,
};
/** A tag without an address has no files beside it. */
export const BESIDE_TAG = {
  folder: 'embed_worker',
  here: 'document.currentScript?.src || document.baseURI',
  beside: 'embed_worker/',
  whole: 'vivace_worker.js',
  hasScript: true,
};

const integrityOf = (code: string) => `sha256-${createHash('sha256').update(code).digest('base64')}`;

/** A line of the page that begins to fetch a file. With other words than those of `fetch` it would come twice. */
function preload(href: string, integrity: string): HtmlTagDescriptor {
  const attrs = { rel: 'preload', as: 'fetch', crossorigin: '', fetchpriority: 'low', integrity, href };
  return { tag: 'link', attrs, injectTo: 'head' };
}
