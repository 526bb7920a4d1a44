// What a build does to shaders: it shortens them and lays them side by side. Only in builds: line
// numbers in errors stay true while developing.

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './ensure.mjs';
import { compactWgsl } from './wgsl_compact.mjs';

const SHADERS = path.join(ROOT, 'shaders');
const WORKER = '/src/engine/worker.ts';

/** Room and name of the shaders in these folders of shaders/. @param {string[]} rooms */
async function shadersOf(...rooms) {
  const lists = await Promise.all(rooms.map((room) => readdir(path.join(SHADERS, room))));
  return rooms.flatMap((room, i) => (lists[i] ?? []).sort().map((file) => `${room}/${file}`));
}

/** @param {string} file */
async function shortened(file) {
  return compactWgsl(await readFile(file, 'utf8'));
}

/**
 * Imports that change nothing but the order in the worker's bundle, since gzip finds repetitions no further than 32 KB apart:
 * shaders side by side, behind comlink, which ends the page's code in front of an inlined worker.
 */
async function inOrder() {
  const files = await shadersOf('lib', 'kernels', 'attention');
  return ['comlink', ...files.map((file) => `/shaders/${file}?raw`)]
    .map((id) => `import ${JSON.stringify(id)};`)
    .join('');
}

/** @returns {import('vite').Plugin} */
export function wgslPlugin() {
  return {
    name: 'wgsl',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      const [file = '', query] = id.split('?');
      if (!file.endsWith('.wgsl') || query !== 'raw') return null;
      return `export default ${JSON.stringify(await shortened(file))}`;
    },
    async transform(code, id) {
      return id.endsWith(WORKER) ? (await inOrder()) + code : null;
    },
  };
}
