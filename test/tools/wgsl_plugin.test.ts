import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { assemble } from '../../src/gpu/kernel';
import { renameWords, shortNames } from '../../tools/lib/wgsl_names.mjs';
import { compactWgsl } from '../../tools/lib/wgsl_plugin.mjs';
import { projectFile } from '../text/fixtures';

test('comments and white space go, code stays', () => {
  const source =
    '// out = x\nenable f16;\nfn f(a : u32) -> u32 {\n  let b = a / 2u; // half\n  /* two\n  lines */ return b - a;\n}\n';
  expect(compactWgsl(source)).toBe('enable f16;fn f(a:u32)->u32{let b=a/2u;return b-a;}');
  expect(compactWgsl('a - -b; a & &b; a && (b || c); a / *p; f() * (x + 1)')).toBe(
    'a - -b;a & &b;a &&(b ||c);a / *p;f()*(x+1)',
  );
});

const FRONT = 'struct Row { first: u32, items: array<f32, SIZE> }\nvar<workgroup> group: array<Row, 4>;\n';
const CODE = `fn total(row: Row) -> f32 { let floor = 1e5f; return row.items[0x1f] + max(floor, 2.0) * row.first; }
@compute @workgroup_size(SIZE) fn entry(@builtin(workgroup_id) wid: vec3<u32>) {
  let max = step.position; let one = wid.xyz; switch (one.x) { case 0: { } default: { total(group[max]); } }
}`;

test('what is declared gets a short name, the most frequent first; what others call by name keeps it', () => {
  const names = shortNames([FRONT, CODE].map(compactWgsl));
  expect([...names.keys()].sort()).toEqual(
    ['Row', 'first', 'floor', 'group', 'items', 'one', 'row', 'total', 'wid'].sort(),
  );
  expect([...names.keys()].slice(0, 2)).toEqual(['Row', 'row']);
  const renamed = renameWords(compactWgsl(CODE), names);
  const kept = [
    'max(',
    '1e5f',
    '0x1f',
    'fn entry(',
    '@builtin(workgroup_id)',
    'step.position',
    'default:',
    '.xyz',
    'SIZE',
  ];
  for (const word of kept) expect(renamed).toContain(word);
  expect(renamed.length).toBeLessThan(compactWgsl(CODE).length);
});

const folder = projectFile('shaders');
const shaders = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.wgsl'))
  .map((file) => compactWgsl(readFileSync(path.join(folder, file), 'utf8')));
const words = (source: string) => source.match(/@?[A-Za-z_]\w*/g) ?? [];

test('no short name is a word that any of our shaders keeps, and none is given twice', () => {
  const names = shortNames(shaders);
  const kept = new Set(shaders.flatMap(words).filter((word) => !names.has(word)));
  expect([...names.values()].filter((name) => kept.has(name))).toEqual([]);
  expect(new Set(names.values()).size).toBe(names.size);
  expect(names.size).toBeGreaterThan(100);
});

test('what is put before every shader keeps its name', () => {
  const source = { label: '', wgsl: [], constants: { SIZE: 1 }, bindings: [] };
  const front = assemble({ can: { immediates: true } } as Parameters<typeof assemble>[0], source);
  const names = shortNames(shaders);
  expect(words(front).filter((word) => names.has(word))).toEqual([]);
});
