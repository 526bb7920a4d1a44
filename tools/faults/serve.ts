// Serves the built pages with the injector before their scripts. dist/ itself has none of it.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { DIST } from '../lib/bundle/dist';
import type { Handler } from '../lib/serve';
import { injector } from './bundle';

const TAG = '<script src="/faults.js"></script>';

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
