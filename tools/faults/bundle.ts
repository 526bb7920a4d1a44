// Bundles the injector with its prelude for workers.

import path from 'node:path';
import { build, type Plugin, type Rolldown } from 'vite';
import { ROOT } from '../lib/ensure.mjs';

/** One entry as a script without imports. */
async function bundle(entry: string, plugins: Plugin[] = []): Promise<string> {
  const output = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins,
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      reportCompressedSize: false,
      rolldownOptions: {
        checks: { bundlerTimings: false },
        input: path.join(ROOT, 'tools/faults', entry),
        output: { format: 'iife', codeSplitting: false },
      },
    },
  });
  const [result] = [output].flat() as Rolldown.RolldownOutput[];
  const [chunk, ...others] = result?.output ?? [];
  if (chunk?.type !== 'chunk' || others.length > 0) throw new Error(`${entry} became ${others.length + 1} files.`);
  return chunk.code;
}

/** The injector as a classic script: it runs before every module. */
export async function injector(): Promise<string> {
  const prelude = await bundle('prelude.ts');
  const insert: Plugin = {
    name: 'prelude-source',
    enforce: 'pre',
    load: (id) =>
      id.endsWith('/faults/prelude_source.ts') ? `export const preludeSource = ${JSON.stringify(prelude)};` : null,
  };
  return bundle('page.ts', [insert]);
}
