// The plugins for shaders. In development and in tests, a line with the file's name in front of each text, by which
// errors name files. In builds, short texts without marks, and one hash of them all.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'vite';
import { ROOT } from '../ensure.mjs';
import { compactWgsl, shortNames } from './wgsl_compact.ts';

const SHADERS = path.join(ROOT, 'shaders');
const SHADER_HASH = '/src/tune/profile/shader_hash.ts';
/** The code that writes shaders itself, and the defaults that profiles keep. */
const HASHED = [
  'kernels/step/tile_state.ts',
  'kernels/step/unrolled.ts',
  'kernels/linear/matmul_plan.ts',
  'kernels/linear/matvec_plan.ts',
  'shared/lanes.ts',
].map((file) => `src/${file}`);
/** Folders whose code names the constants and entry points of shaders. */
const JOINERS = ['src/gpu', 'src/kernels', 'src/attention', 'src/model', 'src/shared', 'src/tune', 'bench/page'];
const COMMENTS = /^\s*(\/\*[\s\S]*?\*\/|\/\/.*$)/gm;

/** Paths below shaders/ of all shaders of the engine, those of benches left out. */
export async function shadersOfEngine() {
  const files = await readdir(SHADERS, { recursive: true });
  const shaders = files.map((file) => file.split(path.sep).join('/')).filter((file) => file.endsWith('.wgsl'));
  return shaders.filter((file) => !file.startsWith('bench/')).sort();
}

let names: Promise<Map<string, string>> | undefined;

/** Short names for all shaders, see `shortNames`. */
export async function namesOfShaders() {
  const shaders = (await shadersOfEngine()).map((file) => path.join(SHADERS, file));
  const below = await Promise.all(
    JOINERS.map(async (room) =>
      (await readdir(path.join(ROOT, room), { recursive: true })).map((file) => path.join(ROOT, room, file)),
    ),
  );
  const texts = (files: string[]) => Promise.all(files.map((file) => readFile(file, 'utf8')));
  const code = await texts(below.flat().filter((file) => file.endsWith('.ts')));
  return shortNames(
    await texts(shaders),
    code.map((text) => text.replace(COMMENTS, '')),
  );
}

/** A shader as bundles hold it. */
export async function shortened(file: string) {
  names ??= namesOfShaders();
  const [source, short] = await Promise.all([readFile(file, 'utf8'), names]); // another build may begin meanwhile
  return compactWgsl(source, short);
}

/** The hash of all shaders takes the place of shader_hash.ts, so that a bundle holds no shader twice. */
async function hashedInAdvance() {
  const hash = createHash('sha256');
  for (const file of await shadersOfEngine()) hash.update(await shortened(path.join(SHADERS, file)));
  for (const file of HASHED) hash.update(await readFile(path.join(ROOT, file), 'utf8'));
  return `export const shaderHash = () => '${hash.digest('hex').slice(0, 8)}';`;
}

/** The file of an import such as `matvec.wgsl?raw`; null for any other import. */
function shaderOf(id: string) {
  const [file = '', query] = id.split('?');
  return file.endsWith('.wgsl') && query === 'raw' ? file : null;
}

export function wgslPlugin(): Plugin[] {
  return [marking(), shortening()];
}

/** Development and tests: `// --- shaders/linear/matvec.wgsl` in front of the text. */
function marking(): Plugin {
  return {
    name: 'wgsl-marks',
    apply: 'serve',
    enforce: 'pre',
    async load(id) {
      const file = shaderOf(id);
      if (file === null) return null;
      this.addWatchFile(file);
      const name = path.relative(ROOT, file).split(path.sep).join('/');
      return `export default ${JSON.stringify(`// --- ${name}\n${await readFile(file, 'utf8')}`)}`;
    },
  };
}

function shortening(): Plugin {
  return {
    name: 'wgsl',
    apply: 'build',
    enforce: 'pre',
    buildStart() {
      names = undefined; // sources may have changed since
    },
    async load(id) {
      const file = shaderOf(id);
      return file === null ? null : `export default ${JSON.stringify(await shortened(file))}`;
    },
    async transform(_, id) {
      return id.endsWith(SHADER_HASH) ? hashedInAdvance() : null;
    },
  };
}
