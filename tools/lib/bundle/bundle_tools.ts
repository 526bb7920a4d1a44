// The terminal programs as plain JavaScript in dist/tools/, for a machine on which the npm packages cannot be
// installed. They need Node, playwright-core and a built dist/.

import path from 'node:path';
import { build, type Plugin } from 'vite';
import { injector } from '../../faults/bundle';
import { ROOT } from '../ensure.mjs';
import { DIST } from './dist';

const PROGRAMS = {
  bench: 'bench/bench.ts',
  generate: 'tools/generate.ts',
  check_models: 'tools/checks/check_models.ts',
  crash_cost: 'tools/measure/crash_cost.ts',
  load_memory: 'tools/measure/load_memory.ts',
  panel_cost: 'tools/measure/panel_cost.ts',
  soak: 'tools/checks/soak.ts',
  take_pictures: 'tools/docs/take_pictures.ts',
};

const STALE =
  'dist/ was built from other sources, or without --tools. Run `npm run build -- --tools` where the npm packages are.';

/** Replaces a file of the programs by other code. */
function instead(file: string, code: string): Plugin {
  let isFound = false;
  return {
    name: 'instead',
    enforce: 'pre',
    load(id) {
      if (!id.endsWith(`/${file}`)) return null;
      isFound = true;
      return code;
    },
    buildEnd(error) {
      if (!error && !isFound) this.error(`No program has ${file}.`);
    },
  };
}

/** Such a machine cannot run the build. */
const BUILD = `export const buildAll = () => { throw new Error(${JSON.stringify(STALE)}); }, buildClients = buildAll;`;

/** dist/tools lies as deep below the root as tools/lib, from which the programs find the root. */
export async function bundleTools(): Promise<void> {
  const input = Object.fromEntries(Object.entries(PROGRAMS).map(([name, file]) => [name, path.join(ROOT, file)]));
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [
      instead('tools/lib/bundle/build.ts', BUILD),
      instead('tools/faults/bundle.ts', `export const injector = async () => ${JSON.stringify(await injector())};`),
    ],
    ssr: { noExternal: true, external: ['playwright-core'] },
    build: {
      ssr: true,
      outDir: path.join(DIST, 'tools'),
      emptyOutDir: true,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        input,
        output: { entryFileNames: '[name].mjs', chunkFileNames: 'lib-[hash].mjs' },
      },
    },
  });
}
