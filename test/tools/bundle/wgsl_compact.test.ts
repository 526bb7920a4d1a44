// The shortening of shaders: the same programs, with shorter names.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { compactWgsl, shortNames, tokensOf } from '../../../tools/lib/bundle/wgsl_compact';
import { namesOfShaders, wgslPlugin } from '../../../tools/lib/bundle/wgsl_plugin';

const SHADERS = path.resolve(import.meta.dirname, '../../../shaders');

test('comments and white space go, code stays', () => {
  const source = '// out = x\nenable f16;\nconst A : u32 = 0x1p4f / /* two\n lines */ 1.5e-3;\n';
  expect(compactWgsl(source)).toBe('enable f16;const A:u32=0x1p4f/1.5e-3;');
});

test('operators that stood apart do not become another one', () => {
  expect(compactWgsl('const A = 1 - -1; const B = a & &b; const C = 2 * -1; const D = 1 -1;')).toBe(
    'const A=1- -1;const B=a& &b;const C=2* -1;const D=1-1;',
  );
});

test('parameters and locals become letters, in order', () => {
  const source = 'fn half_of(value: u32) -> u32 { let half = value / 2u; var rest = half; return rest; }';
  expect(compactWgsl(source)).toBe('fn half_of(a:u32)->u32{let b=a/2u;var c=b;return c;}');
});

test('names of the module, members and built-in values keep their names', () => {
  const source =
    'struct Pair { left: u32 }\nvar<private> a: u32;\n@compute @workgroup_size(SIZE)\n' +
    'fn main(@builtin(workgroup_id) workgroup_id: vec3<u32>) { let left = pair.left + a * C; store(workgroup_id.x, left); }';
  expect(compactWgsl(source)).toBe(
    'struct Pair{left:u32}var<private>a:u32;@compute@workgroup_size(SIZE)' +
      'fn main(@builtin(workgroup_id)b:vec3<u32>){let left=pair.left+a*C;store(b.x,left);}',
  );
});

test('no local takes a name that its function knows from elsewhere', () => {
  expect(compactWgsl('fn f(first: u32) -> u32 { let second = a + b(first); return second; }')).toBe(
    'fn f(c:u32)->u32{let d=a+b(c);return d;}',
  );
});

/**
 * The replacement of each token of `before` in `after`, by function; everything outside of functions is one such scope
 * at a time.
 */
function replaced(before: string, after: string) {
  const old = tokensOf(before).map(({ text }) => text);
  const now = tokensOf(after).map(({ text }) => text);
  const scopes: Map<string, string>[] = [new Map()];
  const broken: string[] = old.length === now.length ? [] : [`${old.length} tokens became ${now.length}`];
  let depth = 0;
  for (const [i, text] of old.entries()) {
    if (depth === 0 && (text === '@' || text === 'fn')) scopes.push(new Map());
    if (text === '{') depth++;
    if (text === '}') depth--;
    if (text === '}' && depth === 0) scopes.push(new Map());
    const names = old[i - 1] === '.' ? new Map([[text, text]]) : (scopes.at(-1) ?? new Map()); // members stay
    if ((names.get(text) ?? now[i]) !== now[i]) broken.push(`${text} became ${now[i]}, not ${names.get(text)}`);
    names.set(text, now[i]);
  }
  return { scopes, broken };
}

const files = readdirSync(SHADERS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.wgsl'));

test.each(files)('%s is the same program: names change one to one within a function', (file) => {
  const source = readFileSync(path.join(SHADERS, file), 'utf8');
  const short = compactWgsl(source);
  const { scopes, broken } = replaced(source, short);
  expect(broken).toEqual([]);
  for (const scope of scopes) {
    expect(new Set(scope.values()).size).toBe(scope.size); // one old name for each new one
    for (const [old, now] of scope) if (old !== now) expect(source).toMatch(new RegExp(`\\b${old}\\b\\s*[:=;,]`));
  }
  expect(short.length).toBeLessThan(source.length);
});

test('what files declare has one short name in all of them', () => {
  const library = 'struct Pair { left: u32, other: u32 }\nvar<workgroup> shared_pairs: array<Pair, SIZE>;';
  const kernel =
    'fn first_left(pair: Pair) -> u32 { let left = pair.left; shared_pairs[0].other = left; return left; }';
  const names = shortNames([library, kernel], []);
  expect(compactWgsl(library, names)).toBe('struct a0{b0:u32,c0:u32}var<workgroup>d0:array<a0,SIZE>;');
  expect(compactWgsl(kernel, names)).toBe('fn e0(a:a0)->u32{let b=a.b0;d0[0].c0=b;return b;}');
});

test('names that others use, and names of the language, stay as they are', () => {
  const source =
    'struct Flags { max: u32, align: u32, num_workgroups: u32, xyz: u32 }\nconst a0 = 1; override DEPTH: u32; ' +
    '@compute @workgroup_size(8) @align(4) fn main(@builtin(num_workgroups) grid: vec3<u32>) { store(max(grid.xyz), DEPTH); }';
  const names = shortNames([source], ['const constants = { DEPTH };', "entryPoint: 'main'"]);
  expect([...names]).toEqual([['Flags', 'b0']]);
});

test('the shaders rename one to one, and nothing that the engine or the language names', async () => {
  const sources = files.map((file) => readFileSync(path.join(SHADERS, file), 'utf8'));
  const names = await namesOfShaders();
  expect(names.size).toBeGreaterThan(100);
  expect(new Set(names.values()).size).toBe(names.size);
  const words = new Set(sources.flatMap((source) => tokensOf(compactWgsl(source)).map(({ text }) => text)));
  for (const short of names.values()) expect(words).not.toContain(short);
  for (const stays of ['main', 'step', 'position', 'WORKGROUP', 'HEAD_DIM', 'vec4', 'array', 'workgroupBarrier']) {
    expect(names).not.toContain(stays);
  }
  for (const source of sources) {
    const long = tokensOf(compactWgsl(source)).map(({ text }) => names.get(text) ?? text);
    expect(tokensOf(compactWgsl(source, names)).map(({ text }) => text)).toEqual(long);
  }
});

test('a shader keeps its short names while another build begins: a worker is built amid its page', async () => {
  const hooks = wgslPlugin() as unknown as { name: string; buildStart(): void; load(id: string): Promise<string> }[];
  const plugin = hooks.find(({ name }) => name === 'wgsl');
  const file = `${path.join(SHADERS, 'places/pass.wgsl')}?raw`;
  const alone = await plugin?.load(file);
  const loading = plugin?.load(file);
  plugin?.buildStart();
  expect(await loading).toBe(alone);
  expect(alone).not.toContain('kv_slot');
});
