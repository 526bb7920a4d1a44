import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { compactWgsl, tokensOf } from '../../tools/lib/wgsl_compact.mjs';

const SHADERS = path.resolve(import.meta.dirname, '../../shaders');

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

/** Which names differ, by function and as they stand outside: [depth-0 run or body, old name, new name]. */
function renamed(before: string, after: string) {
  const old = tokensOf(before).map(({ text }) => text);
  const now = tokensOf(after).map(({ text }) => text);
  expect(now.length).toBe(old.length);
  const scopes: Map<string, string>[] = [new Map()];
  let depth = 0;
  for (const [i, text] of old.entries()) {
    if (depth === 0 && (text === '@' || text === 'fn')) scopes.push(new Map());
    if (text === '{') depth++;
    if (text === '}') depth--;
    if (text === '}' && depth === 0) scopes.push(new Map());
    if (old[i - 1] === '.') expect(now[i]).toBe(text);
    else {
      const scope = scopes.at(-1) as Map<string, string>;
      expect(scope.get(text) ?? now[i]).toBe(now[i]); // one new name for each old one
      scope.set(text, now[i] ?? '');
    }
  }
  return scopes;
}

const files = readdirSync(SHADERS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.wgsl'));

test.each(files)('%s is the same program: names change one to one within a function', (file) => {
  const source = readFileSync(path.join(SHADERS, file), 'utf8');
  const short = compactWgsl(source);
  for (const scope of renamed(source, short)) {
    expect(new Set(scope.values()).size).toBe(scope.size); // and one old name for each new one
    for (const [old, now] of scope) if (old !== now) expect(source).toMatch(new RegExp(`\\b${old}\\b\\s*[:=;,]`));
  }
  expect(short.length).toBeLessThan(source.length);
});
