// Builds of the same sources, told apart by --mode: the page (dist/), the script tag (dist/embed.js) with its panel
// (dist/embed_panel.js) and other languages (dist/embed_de.js, dist/embed_ja.js), the package's ESM entries (dist/lib/), and what the bench and other tools run in a page
// (dist/bench.js, dist/bench_clients.js, dist/tools.js).
// tools/build.mjs runs them in turn, so each leaves the others' files alone.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { firstFile } from './tools/lib/first_file.ts';
import { orderPlugin } from './tools/lib/order_plugin.ts';
import { templatePlugin } from './tools/lib/template_plugin.ts';
import { wgslPlugin } from './tools/lib/wgsl_plugin.ts';
import { allAtOnce, OUTPUT, workerFilePlugin, workerPlugin } from './tools/lib/worker_plugin.ts';

/** A slow machine is no news: `generate` may have to build first, and has nothing else to say on stderr. */
const checks = { bundlerTimings: false };

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

const shared: UserConfig = {
  base: './',
  define: { 'import.meta.env.VIVACE_VERSION': JSON.stringify(version) },
  plugins: [wgslPlugin(), templatePlugin(), orderPlugin()],
  worker: {
    format: 'es',
    plugins: () => [wgslPlugin(), allAtOnce()],
    rolldownOptions: { checks, output: { comments: { annotation: false, jsdoc: false, legal: true } } }, // no bundler reads a worker again
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
  /** What stays an import: our module by the end of its path, and the file beside the bundle that takes its place. */
  external?: readonly [module: string, file: string];
  /** One of our modules by the end of its path, and the one that takes its place. */
  instead?: readonly [module: string, other: string];
}

const BUNDLES: Record<string, Bundle> = {
  lib: {
    entry: 'src/engine/engine.ts',
    file: 'lib/vivace.js',
    format: 'es',
    external: ['/src/engine/compiler', './constraint.js'],
  },
  compiler: { entry: 'src/engine/compiler.ts', file: 'lib/constraint.js', format: 'es' },
  elements: {
    entry: 'src/embed/elements_entry.ts',
    file: 'lib/elements.js',
    format: 'es',
    external: ['/src/engine/engine', './vivace.js'],
  },
  server: { entry: 'src/embed/elements_server.ts', file: 'lib/elements_server.js', format: 'es' },
  openai: { entry: 'src/api/openai/fetch.ts', file: 'lib/openai.js', format: 'es' },
  prompt: { entry: 'src/api/prompt_api/language_model.ts', file: 'lib/prompt_api.js', format: 'es' },
  webllm: {
    entry: 'src/api/webllm.ts',
    file: 'lib/webllm.js',
    format: 'es',
    external: ['/src/api/openai/fetch', './openai.js'],
  },
  remote: { entry: 'src/remote/remote_engine.ts', file: 'lib/remote.js', format: 'es' },
  embed: {
    entry: 'src/embed/embed.ts',
    file: 'embed.js',
    format: 'iife',
    instead: ['/src/engine/page/load_compiler', 'src/embed/load_compiler.ts'],
  },
  panel: { entry: 'src/embed/panel_entry.ts', file: 'embed_panel.js', format: 'iife' },
  german: { entry: 'src/embed/words_de.ts', file: 'embed_de.js', format: 'iife' },
  japanese: { entry: 'src/embed/words_ja.ts', file: 'embed_ja.js', format: 'iife' },
  code: { entry: 'src/embed/code_entry.ts', file: 'embed_code.js', format: 'iife' },
  constraint: { entry: 'src/embed/constraint_entry.ts', file: 'embed_constraint.js', format: 'iife' },
  math: { entry: 'src/embed/math_entry.ts', file: 'embed_math.js', format: 'iife' },
  remember: { entry: 'src/embed/remember_entry.ts', file: 'embed_remember.js', format: 'iife' },
  bench: { entry: 'bench/page/page.ts', file: 'bench.js', format: 'es' },
  clients: { entry: 'bench/page/clients.ts', file: 'bench_clients.js', format: 'es' },
  tools: {
    entry: 'tools/page/page.ts',
    file: 'tools.js',
    format: 'es',
    external: ['/src/engine/engine', './lib/vivace.js'],
  },
};

/** A bundle in one file, apart from what it imports when needed: the worker travels inside it. */
function oneFile({ entry, file, format, external, instead }: Bundle): UserConfig {
  return {
    ...shared,
    define: { ...shared.define, 'process.env.NODE_ENV': '"production"' },
    plugins: [
      ...(shared.plugins ?? []),
      workerPlugin(),
      allAtOnce(),
      external && leftOutside(...external),
      instead && replaced(...instead),
    ],
    build: {
      ...shared.build,
      outDir: path.join('dist', path.dirname(file)),
      copyPublicDir: false,
      lib: { entry, formats: [format], name: 'VivaceBundle', fileName: () => path.basename(file) },
      rolldownOptions: { checks, output: { ...OUTPUT, chunkFileNames: `${path.basename(file, '.js')}_[name].js` } },
    },
  };
}

/** Imports of one of our modules become imports of the bundle that holds it. */
function leftOutside(module: string, file: string): Plugin {
  return {
    name: 'left-outside',
    enforce: 'pre',
    resolveId(id, importer) {
      if (!importer || !id.startsWith('.')) return null;
      return path.resolve(path.dirname(importer), id).endsWith(module) ? { id: file, external: true } : null;
    },
  };
}

/** Imports of one of our modules become imports of another. */
function replaced(module: string, other: string): Plugin {
  return {
    name: 'replaced',
    enforce: 'pre',
    resolveId(id, importer) {
      if (!importer || !id.startsWith('.')) return null;
      return path.resolve(path.dirname(importer), id).endsWith(module) ? path.resolve(other) : null;
    },
  };
}

export default defineConfig(({ mode }) => {
  const bundle = BUNDLES[mode];
  if (bundle) return oneFile(bundle);
  return {
    ...shared,
    plugins: [...(shared.plugins ?? []), workerFilePlugin()],
    server: { port: 5173 },
    build: {
      ...shared.build,
      modulePreload: { polyfill: false }, // a browser with WebGPU, or one of `target`, knows module preloads
      rolldownOptions: { checks, output: { ...OUTPUT, codeSplitting: { groups: [firstFile()] } } },
    },
  };
});
