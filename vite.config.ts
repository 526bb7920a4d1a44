// Four builds of the same sources, told apart by --mode: the page (dist/), the ESM package entry (dist/lib/), the script tag
// (dist/embed.js), and what `npm run bench` runs in a page (dist/bench.js).
// tools/build.mjs runs them in turn, so each leaves the others' files alone.

import { defineConfig, type UserConfig } from 'vite';
import { wgslPlugin } from './tools/lib/wgsl_plugin.mjs';

/** A slow machine is no news: `generate` may have to build first, and has nothing else to say on stderr. */
const checks = { bundlerTimings: false };

const shared: UserConfig = {
  base: './',
  plugins: [wgslPlugin()],
  worker: {
    format: 'es',
    plugins: () => [wgslPlugin()],
    rolldownOptions: { checks, output: { comments: { annotation: false, jsdoc: false, legal: true } } }, // no bundler reads a worker again
  },
  build: {
    target: 'es2022',
    sourcemap: false,
    emptyOutDir: false,
    reportCompressedSize: false,
    rolldownOptions: { checks },
  },
};

/** A bundle with everything in one file: the worker travels inside it. */
function oneFile(
  entry: string,
  outDir: string,
  lib: { formats: ['es'] | ['iife']; name: string; file: string },
): UserConfig {
  return {
    ...shared,
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      ...shared.build,
      outDir,
      copyPublicDir: false,
      lib: { entry, formats: lib.formats, name: lib.name, fileName: () => lib.file },
      rolldownOptions: { checks, output: { minify: true } }, // Vite leaves whitespace in ES libraries
    },
  };
}

export default defineConfig(({ mode }) => {
  if (mode === 'lib')
    return oneFile('src/engine/engine.ts', 'dist/lib', { formats: ['es'], name: 'Vivace', file: 'vivace.js' });
  if (mode === 'embed')
    return oneFile('src/embed/embed.ts', 'dist', { formats: ['iife'], name: 'Vivace', file: 'embed.js' });
  if (mode === 'bench')
    return oneFile('test/bench/page.ts', 'dist', { formats: ['es'], name: 'VivaceBench', file: 'bench.js' });
  return { ...shared, server: { port: 5173 } };
});
