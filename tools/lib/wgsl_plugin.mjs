// Makes shaders small on their way into a bundle: without comments and indentation, a third of the text, and with short names.
// Only in builds: names and line numbers in errors stay true while developing.

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './ensure.mjs';
import { renameWords, shortNames } from './wgsl_names.mjs';

const SHADERS = path.join(ROOT, 'shaders');

/** @param {string} source WGSL */
export function compactWgsl(source) {
  return source
    .replace(/\/\/[^\n]*/g, '')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([=%<>(){},;:]) ?/g, '$1')
    .replace(/ ?([-+*/&|^]) (?=[\w(])/g, '$1') // not before another operator: two of them could make a third
    .trim();
}

async function allShaders() {
  const entries = await readdir(SHADERS, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.name.endsWith('.wgsl'))
    .map((file) => path.join(file.parentPath, file.name));
  return Promise.all(files.sort().map((file) => readFile(file, 'utf8')));
}

/** @returns {import('vite').Plugin} */
export function wgslPlugin() {
  /** @type {Promise<ReadonlyMap<string, string>> | undefined} */
  let names;
  return {
    name: 'compact-wgsl',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      const [file, query] = id.split('?');
      if (!file?.endsWith('.wgsl') || query !== 'raw') return null;
      names ??= allShaders().then((sources) => shortNames(sources.map(compactWgsl)));
      const source = compactWgsl(await readFile(file, 'utf8'));
      return `export default ${JSON.stringify(renameWords(source, await names))}`;
    },
  };
}
