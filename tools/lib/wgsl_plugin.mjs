// What a build does to shaders: it shortens them, lays them side by side, and hashes them in advance. Only in builds: line
// numbers in errors stay true while developing.

import { createHash } from 'node:crypto';
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
 * A file that exports one hash of shaders becomes that hash: a bundle need not hold the means, nor sources that nothing else uses.
 * @param {string} code which says by `import.meta.glob` what is hashed
 */
async function hashedInAdvance(code) {
  const rooms = [...code.matchAll(/shaders\/(\w+)\/\*\.wgsl/g)].map(([, room = '']) => room);
  const name = /export function (\w+)\(\): string/.exec(code)?.[1];
  if (rooms.length === 0 || !name) return null;
  const hash = createHash('sha256');
  for (const file of await shadersOf(...rooms)) hash.update(await shortened(path.join(SHADERS, file)));
  return `export const ${name} = () => '${hash.digest('hex').slice(0, 8)}';`;
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
      if (id.endsWith('_hash.ts')) return hashedInAdvance(code);
      return id.endsWith(WORKER) ? (await inOrder()) + code : null;
    },
  };
}
