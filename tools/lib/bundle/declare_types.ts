// Writes what the package's entries declare, for clients that have no sources: one file beside each entry in dist/lib.
// Checking them is the tests' work.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Plugin, rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { ROOT } from '../ensure.mjs';
import { DIST } from './dist';

/** The file of each entry in dist/lib, and its source. tsconfig.types.json names the same sources. */
const ENTRIES: Readonly<Record<string, string>> = {
  vivace: 'engine/package',
  elements: 'embed/elements/elements_entry',
  react: 'embed/frameworks/react',
  preact: 'embed/frameworks/preact',
  vue: 'embed/frameworks/vue',
  svelte: 'embed/frameworks/svelte',
  openai: 'api/openai/fetch',
  prompt_api: 'api/prompt_api/language_model',
  webllm: 'api/webllm',
  remote: 'remote/remote_engine',
  tabs: 'tabs/shared_engine',
  embed: 'embed/tag/embed',
};

/** Sources that stay an import of another entry: a class that was declared twice would be two classes. */
const SHARED: Readonly<Record<string, string>> = {
  'engine/engine': 'vivace',
  'engine/protocol': 'vivace',
  errors: 'vivace',
  'embed/elements/elements_entry': 'elements',
  'api/openai/fetch': 'openai',
};

function importShared(folder: string, entry: string): Plugin {
  return {
    name: 'import-shared',
    resolveId(id, importer) {
      if (id === 'lit-html') return { id: 'lit', external: true }; // which we depend on, and which exports the same
      if (!importer || !id.startsWith('.')) return null;
      const source = path
        .relative(folder, path.resolve(path.dirname(importer), id))
        .split(path.sep)
        .join('/');
      const shared = SHARED[source];
      return shared && shared !== entry ? { id: `./${shared}.js`, external: true } : null;
    },
  };
}

export async function declareTypes(): Promise<void> {
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const folder = await mkdtemp(path.join(tmpdir(), 'vivace-types-'));
  try {
    const args = [compiler, '-p', path.join(ROOT, 'tsconfig.types.json'), '--outDir', folder];
    await promisify(execFile)(process.execPath, args);
    for (const [entry, source] of Object.entries(ENTRIES)) {
      const bundle = await rolldown({
        input: { [entry]: path.join(folder, `${source}.d.ts`) },
        external: /^(?!lit-html$)[^./]/,
        checks: { bundlerTimings: false },
        experimental: { attachDebugInfo: 'none' }, // no comments with our paths
        plugins: [importShared(folder, entry), dts({ dtsInput: true, tsconfig: false })],
      });
      await bundle.write({ dir: path.join(DIST, 'lib') });
      await bundle.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
