// Bundles the page of the clients as a site would: the packages as they are, beside the built bundles of this one.

import path from 'node:path';
import { build, type Plugin, type Rolldown } from 'vite';

/** Our modules by the end of their path, and where the test's server has their bundle. */
const BUNDLES = { '/src/engine/engine': '/lib/vivace.js', '/src/api/openai/fetch': '/lib/openai.js' };

const builtBundles: Plugin = {
  name: 'built-bundles',
  enforce: 'pre',
  resolveId(id, importer) {
    if (!importer || !id.startsWith('.')) return null;
    const target = path.resolve(path.dirname(importer), id);
    const found = Object.entries(BUNDLES).find(([module]) => target.endsWith(module));
    return found ? { id: found[1], external: true } : null;
  },
};

/** The script of the page. */
export async function bundleClients(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    plugins: [builtBundles],
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: { entry: path.join(import.meta.dirname, 'page.ts'), formats: ['es'], fileName: 'clients' },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  const [{ output }] = built as Rolldown.RolldownOutput[];
  return output[0]!.code;
}
