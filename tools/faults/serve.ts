// Serves the built pages with the injector before their scripts. dist/ itself has none of it.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin, type Rolldown } from 'vite';
import { DIST } from '../lib/dist';
import { ROOT } from '../lib/ensure.mjs';
import type { Handler } from '../lib/serve';

const TAG = '<script src="/faults.js"></script>';

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
async function injector(): Promise<string> {
  const prelude = await bundle('prelude.ts');
  const insert: Plugin = {
    name: 'prelude-source',
    enforce: 'pre',
    load: (id) =>
      id.endsWith('/faults/prelude_source.ts') ? `export const preludeSource = ${JSON.stringify(prelude)};` : null,
  };
  return bundle('page.ts', [insert]);
}

/** A page with nothing but the injector and the package, as `window.vivace`. */
const BARE = `<!doctype html><meta charset="utf-8"><title>Vivace</title><link rel="icon" href="data:,">
<script type="module">import * as vivace from '/lib/vivace.js'; window.vivace = vivace;</script>`;

const answer = (type: string, text: () => Promise<string>): Handler => {
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' });
    response.end(await text());
  };
};

/** The injector puts its tag before all scripts of a page. */
const withTag = (html: string) => {
  const at = html.indexOf('<script');
  return html.slice(0, at) + TAG + html.slice(at);
};

/** The chat page with the injector, the demo of the tag, and a bare page of the package at /bare. */
export async function faultHandlers(): Promise<Record<string, Handler>> {
  const script = await injector();
  const built = (file: string) =>
    answer('text/html', async () => withTag(await readFile(path.join(DIST, file), 'utf8')));
  return {
    '/': built('index.html'),
    '/index.html': built('index.html'),
    '/embed_demo.html': built('embed_demo.html'),
    '/bare': answer('text/html', async () => withTag(BARE)),
    '/faults.js': answer('text/javascript', async () => script),
  };
}
