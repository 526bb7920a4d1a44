// Shortens shaders on their way into a bundle. Only in builds: line numbers in errors stay true while developing.

import { readFile } from 'node:fs/promises';
import { compactWgsl } from './wgsl_compact.mjs';

/** @returns {import('vite').Plugin} */
export function wgslPlugin() {
  return {
    name: 'compact-wgsl',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      const [file, query] = id.split('?');
      if (!file?.endsWith('.wgsl') || query !== 'raw') return null;
      return `export default ${JSON.stringify(compactWgsl(await readFile(file, 'utf8')))}`;
    },
  };
}
