// Who may import whom (design.md section 2), read from the import lines of src/. A new room is added to ALLOWED on purpose, never by accident.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const SRC = path.join(ROOT, 'src');

/** The rooms that each room may import, its own aside. */
const ALLOWED: Record<string, readonly string[]> = {
  gpu: [],
  text: [],
  storage: [],
  sampling: [],
  cpu: [],
  kernels: ['gpu'],
  // A sibling is checked against the textbook when a model loads, and the cpu sibling is the textbook.
  attention: ['gpu', 'cpu'],
  // The tables and small vectors that a load computes on the CPU are the textbook's (rope, dequantize).
  model: ['gpu', 'kernels', 'attention', 'sampling', 'storage', 'cpu'],
  engine: ['text', 'storage', 'model', 'gpu', 'cpu', 'sampling'],
  ui: ['engine'],
  metrics: ['engine'],
  embed: ['engine', 'ui', 'metrics'],
};

/** Files that rooms may import beyond the table: leaves that import nothing of ours. */
const LEAVES: Record<string, (room: string) => boolean> = {
  'errors.ts': () => true,
  'metrics/tbt_stats.ts': (room) => room === 'engine',
  'ui/format.ts': (room) => room === 'metrics',
  'ui/save_text.ts': (room) => room === 'metrics',
};

/** Clients listen: of the engine they may import its API alone. */
const CLIENTS = ['ui', 'metrics', 'embed'];
const ENGINE_API = 'engine/engine.ts';

const TWIN_ROOMS = ['kernels', 'attention'];

function filesBelow(folder: string, ending: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => file.split(path.sep).join('/'))
    .sort();
}

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** Static, type-only, dynamic and re-exporting imports, and workers by URL, all count the same. */
function importsOf(code: string): string[] {
  const pattern = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew\s+URL\(\s*)['"]([^'"]+)['"]/g;
  return [...withoutComments(code).matchAll(pattern)].map((match) => match[1] ?? '');
}

/** A relative import as a path from the root such as 'src/gpu/device.ts' or 'shaders/lib/reduce.wgsl'. */
function resolveImport(fromFile: string, specifier: string): string {
  const bare = specifier.replace(/\?.*$/, '');
  const target = path.join(path.dirname(fromFile), bare);
  const found = [target, `${target}.ts`].find(
    (candidate) => /\.\w+$/.test(candidate) && existsSync(path.join(ROOT, candidate)),
  );
  return (found ?? target).split(path.sep).join('/');
}

/** Why an import is not allowed, or null. `file` is relative to src/, `target` to the root. */
function objection(file: string, target: string): string | null {
  const room = file.includes('/') ? (file.split('/')[0] ?? '') : '';
  if (target.startsWith('shaders/')) return shaderObjection(file, room, target);
  if (!target.startsWith('src/')) return `leaves src/ for ${target}`;
  const inSrc = target.slice('src/'.length);
  if (LEAVES[inSrc]?.(room)) return null;
  const targetRoom = inSrc.includes('/') ? (inSrc.split('/')[0] ?? '') : '';
  if (targetRoom === room) return null;
  if (!ALLOWED[room]?.includes(targetRoom)) return `${room || 'src'} may not import ${targetRoom || inSrc}`;
  if (CLIENTS.includes(room) && targetRoom === 'engine' && inSrc !== ENGINE_API)
    return `imports ${inSrc}, not ${ENGINE_API}`;
  return null;
}

function shaderObjection(file: string, room: string, target: string): string | null {
  if (target.startsWith('shaders/lib/')) return TWIN_ROOMS.includes(room) ? null : `${room} holds no GPU code`;
  if (!TWIN_ROOMS.includes(room)) return `${room} may not import ${target}`;
  const twin = `shaders/${file.replace(/\.ts$/, '.wgsl')}`;
  return target === twin ? null : `imports ${target}, its twin is ${twin}`;
}

const sources = filesBelow(SRC, '.ts').filter((file) => !file.endsWith('.d.ts'));

test('every room of src/ is in the table', () => {
  const rooms = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(rooms.map((room) => room.name).filter((room) => !(room in ALLOWED))).toEqual([]);
});

test('rooms import only what the table allows, and shaders only from their twin', () => {
  const wrong = sources.flatMap((file) =>
    importsOf(readFileSync(path.join(SRC, file), 'utf8'))
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => [specifier, objection(file, resolveImport(`src/${file}`, specifier))])
      .filter(([, reason]) => reason !== null)
      .map(([specifier, reason]) => `src/${file}: ${specifier}: ${reason}`),
  );
  expect(wrong).toEqual([]);
});

test('leaves import nothing of ours', () => {
  for (const leaf of Object.keys(LEAVES)) {
    const file = path.join(SRC, leaf);
    if (existsSync(file)) expect(importsOf(readFileSync(file, 'utf8')).filter((s) => s.startsWith('.'))).toEqual([]);
  }
});

test('every shader has its wrapper', () => {
  const shaders = TWIN_ROOMS.flatMap((room) =>
    filesBelow(path.join(ROOT, 'shaders', room), '.wgsl').map((file) => `${room}/${file}`),
  );
  expect(shaders.filter((file) => !existsSync(path.join(SRC, file.replace(/\.wgsl$/, '.ts'))))).toEqual([]);
});

test('no kernel is written outside shaders/', () => {
  const wgsl = /@compute\b/;
  const strays = sources.filter((file) => wgsl.test(withoutComments(readFileSync(path.join(SRC, file), 'utf8'))));
  expect(strays).toEqual([]);
});

test('file stems are snake_case', () => {
  const named = [
    ...filesBelow(SRC, '.ts'),
    ...filesBelow(path.join(ROOT, 'shaders'), '.wgsl'),
    ...filesBelow(path.join(ROOT, 'test'), '.ts'),
    ...filesBelow(path.join(ROOT, 'tools'), '.mjs'),
  ];
  const stem = (file: string) => path.basename(file).replace(/(\.test|\.d)?\.\w+$/, '');
  expect(named.filter((file) => !/^[a-z][a-z0-9_]*$/.test(stem(file)))).toEqual([]);
});
