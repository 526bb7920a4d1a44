// Builds of the same sources, told apart by --mode: the page (dist/), the script tag (dist/embed.js) with its panel
// (dist/embed_panel.js) and other languages (dist/embed_de.js, dist/embed_ja.js), the package's ESM entries (dist/lib/), and what the bench and other tools run in a page
// (dist/bench.js, dist/bench_clients.js, dist/tools.js).
// tools/build.mjs runs them in turn, so each leaves the others' files alone.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { firstFile } from './tools/lib/bundle/first_file.ts';
import { licensePlugin } from './tools/lib/bundle/license_plugin.ts';
import { optionsPlugin } from './tools/lib/bundle/options_plugin.ts';
import { orderPlugin } from './tools/lib/bundle/order_plugin.ts';
import { templatePlugin } from './tools/lib/bundle/template_plugin.ts';
import { wgslPlugin } from './tools/lib/bundle/wgsl_plugin.ts';
import {
  allAtOnce,
  BESIDE_PAGE,
  BESIDE_TAG,
  OUTPUT,
  workerFilePlugin,
  workerModulesPlugin,
  workerPlugin,
} from './tools/lib/bundle/worker_plugin.ts';

/** A slow machine is no news: `generate` may have to build first, and has nothing else to say on stderr. */
const checks = { bundlerTimings: false };

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

const shared: UserConfig = {
  base: './',
  define: { 'import.meta.env.VIVACE_VERSION': JSON.stringify(version) },
  plugins: [wgslPlugin(), optionsPlugin(false), templatePlugin(), orderPlugin(), licensePlugin()],
  worker: {
    format: 'es',
    plugins: () => [wgslPlugin(), allAtOnce(), licensePlugin()],
    rolldownOptions: { checks, output: { comments: OUTPUT.comments } },
  },
  build: {
    target: 'es2022',
    sourcemap: false,
    emptyOutDir: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000, // KB; most bundles have the worker inside them
    rolldownOptions: { checks, output: OUTPUT },
  },
};

interface Bundle {
  entry: string;
  /** Below dist/. */
  file: string;
  format: 'es' | 'iife';
  /** What stays an import: our modules by the end of their paths, and the files that take their places. */
  external?: Record<string, string>;
  /** Our modules by the end of their paths, and those that take their places. */
  instead?: Record<string, string>;
  /** Where the worker is: as text in the bundle, as files beside it, or as modules that it imports. */
  worker?: Plugin;
}

const BUNDLES: Record<string, Bundle> = {
  lib: {
    entry: 'src/engine/engine.ts',
    file: 'lib/vivace.js',
    format: 'es',
    external: { '/src/engine/compiler': './constraint.js' },
    worker: workerModulesPlugin(),
  },
  compiler: { entry: 'src/engine/compiler.ts', file: 'lib/constraint.js', format: 'es' },
  elements: {
    entry: 'src/embed/elements/elements_entry.ts',
    file: 'lib/elements.js',
    format: 'es',
    external: {
      '/src/engine/engine': './vivace.js',
      '/src/embed/beside/code_entry': '../embed_code.js',
      '/src/embed/beside/math_entry': '../embed_math.js',
      '/src/embed/beside/words_de': '../embed_de.js',
      '/src/embed/beside/words_ja': '../embed_ja.js',
    },
  },
  server: { entry: 'src/embed/elements/elements_server.ts', file: 'lib/elements_server.js', format: 'es' },
  openai: { entry: 'src/api/openai/fetch.ts', file: 'lib/openai.js', format: 'es' },
  prompt: { entry: 'src/api/prompt_api/language_model.ts', file: 'lib/prompt_api.js', format: 'es' },
  webllm: {
    entry: 'src/api/webllm.ts',
    file: 'lib/webllm.js',
    format: 'es',
    external: { '/src/api/openai/fetch': './openai.js' },
  },
  remote: { entry: 'src/remote/remote_engine.ts', file: 'lib/remote.js', format: 'es' },
  tabs: {
    entry: 'src/tabs/shared_engine.ts',
    file: 'lib/tabs.js',
    format: 'es',
    external: { '/src/engine/engine': './vivace.js' },
  },
  embed: {
    entry: 'src/embed/tag/embed.ts',
    file: 'embed.js',
    format: 'iife',
    instead: {
      '/src/engine/page/constraint/load_compiler': 'src/embed/fetch/load_compiler.ts',
      '/src/embed/session/load_tabs': 'src/embed/fetch/load_tabs_beside.ts',
      '/src/engine/page/worker_code/fetch_code': 'src/embed/fetch/fetch_code.ts',
    },
    worker: workerFilePlugin(BESIDE_TAG),
  },
  panel: { entry: 'src/embed/beside/panel_entry.ts', file: 'embed_panel.js', format: 'iife' },
  german: { entry: 'src/embed/beside/words_de.ts', file: 'embed_de.js', format: 'iife' },
  japanese: { entry: 'src/embed/beside/words_ja.ts', file: 'embed_ja.js', format: 'iife' },
  code: { entry: 'src/embed/beside/code_entry.ts', file: 'embed_code.js', format: 'iife' },
  constraint: { entry: 'src/embed/beside/constraint_entry.ts', file: 'embed_constraint.js', format: 'iife' },
  'tag-tabs': { entry: 'src/embed/beside/tabs_entry.ts', file: 'embed_tabs.js', format: 'iife' },
  math: { entry: 'src/embed/beside/math_entry.ts', file: 'embed_math.js', format: 'iife' },
  remember: { entry: 'src/embed/beside/remember_entry.ts', file: 'embed_remember.js', format: 'iife' },
  served: { entry: 'src/embed/beside/server_entry.ts', file: 'embed_server.js', format: 'iife' },
  bench: { entry: 'bench/page/page.ts', file: 'bench.js', format: 'es' },
  clients: { entry: 'bench/page/clients.ts', file: 'bench_clients.js', format: 'es' },
  tools: {
    entry: 'tools/page/page.ts',
    file: 'tools.js',
    format: 'es',
    external: { '/src/engine/engine': './lib/vivace.js' },
  },
};

/** A bundle in one file, apart from what it imports when needed. */
function oneFile({ entry, file, format, external, instead, worker = workerPlugin() }: Bundle): UserConfig {
  return {
    ...shared,
    define: { ...shared.define, 'process.env.NODE_ENV': '"production"' },
    plugins: [
      ...(shared.plugins ?? []),
      worker,
      allAtOnce(),
      external && leftOutside(external),
      instead && replaced(instead),
    ],
    build: {
      ...shared.build,
      outDir: path.join('dist', path.dirname(file)),
      copyPublicDir: false,
      lib: { entry, formats: [format], name: 'VivaceBundle', fileName: () => path.basename(file) },
      rolldownOptions: {
        checks,
        output: {
          ...OUTPUT,
          chunkFileNames: chunkNames(path.basename(file, '.js')),
          // One file for all that several files need: one of a hundred bytes costs a request.
          ...(format === 'es' && { codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] } }),
        },
      },
    },
  };
}

/** What is imported when needed has the name of its module; what it has in common with the entry is `shared`. */
const chunkNames = (bundle: string) => (chunk: { isDynamicEntry: boolean }) =>
  `${bundle}_${chunk.isDynamicEntry ? '[name]' : 'shared'}.js`;

/** Imports of some of our modules become imports of the bundles that hold them. */
function leftOutside(files: Record<string, string>): Plugin {
  return {
    name: 'left-outside',
    enforce: 'pre',
    resolveId(id, importer) {
      if (!importer || !id.startsWith('.')) return null;
      const asked = path.resolve(path.dirname(importer), id);
      const found = Object.keys(files).find((module) => asked.endsWith(module));
      return found ? { id: files[found] ?? '', external: true } : null;
    },
  };
}

/** Imports of some of our modules become imports of others. */
function replaced(others: Record<string, string>): Plugin {
  const unseen = new Set(Object.keys(others));
  return {
    name: 'replaced',
    enforce: 'pre',
    resolveId(id, importer) {
      if (!importer || !id.startsWith('.')) return null;
      const asked = path.resolve(path.dirname(importer), id);
      const found = Object.keys(others).find((module) => asked.endsWith(module));
      if (found) unseen.delete(found);
      const other = path.resolve((found && others[found]) ?? '');
      return found && other !== importer ? other : null; // the other may use what it replaces
    },
    buildEnd(error) {
      if (!error && unseen.size > 0) this.error(`Nothing imports ${[...unseen].join(' and ')}, which is replaced.`);
    },
  };
}

export default defineConfig(({ mode }) => {
  // Not before: the build sets it.
  Object.assign(shared.define ?? {}, {
    'import.meta.env.VIVACE_BUILD': JSON.stringify(process.env.VIVACE_BUILD ?? ''),
  });
  const bundle = BUNDLES[mode];
  if (bundle) return oneFile(bundle);
  return {
    ...shared,
    plugins: [...(shared.plugins ?? []), workerFilePlugin(BESIDE_PAGE)],
    server: { port: 5173 },
    build: {
      ...shared.build,
      modulePreload: { polyfill: false }, // a browser with WebGPU, or one of `target`, knows module preloads
      rolldownOptions: { checks, output: { ...OUTPUT, codeSplitting: { groups: [firstFile()] } } },
    },
  };
});
