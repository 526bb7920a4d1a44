// The check finds writes of components of vectors in workgroup memory, and nothing else.

import { expect, test } from 'vitest';
import { createKernel } from '../../src/gpu/kernel';
import { testGpu } from './test_device';
import { checkWorkgroupVectors } from './workgroup_vectors';

const DECLARED = `alias Quad = vec4<f32>;
alias Quads = array<Quad, 8>;
var<workgroup> one: vec2u;
var<workgroup> some: array<vec4<f32>, N * (4u + M)>;
var<workgroup> tiles: array<Quads, 4>;
var<workgroup> words: array<array<f32, 4>, 8>;
`;

test.each([
  'one.x = 3u;',
  'one[i] += 3u;',
  'some[i].y = 1.0;',
  'some[a[i % 4u]][i & 3u] = 1.0;',
  'some[i].xy = vec2(1.0);',
  'tiles[i][j].w *= 2.0;',
  'tiles[i][j][k] = 2.0;',
])('finds %s', (statement) => {
  expect(() => checkWorkgroupVectors(`${DECLARED}fn f() { ${statement} }`)).toThrow(
    /^A component of a vector of \w+ is/,
  );
});

test.each([
  'one = vec2(3u);',
  'some[i] = vec4(1.0);',
  'tiles[i][j] += vec4(some[i].x);',
  'words[i][j] = 1.0;',
  'if (some[i].x == 1.0) { }',
  'let same = some[i].y <= 1.0;',
  'var awesome: vec4<f32>; awesome.x = 1.0;',
])('takes %s', (statement) => {
  expect(() => checkWorkgroupVectors(`${DECLARED}fn f() { ${statement} }`)).not.toThrow();
});

test('devices of tests check each shader', async () => {
  const wgsl = [
    '@group(0) @binding(0) var<storage, read_write> out: u32;',
    'var<workgroup> both: vec2u;',
    '@compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) { both[i] = i; out = both.x; }',
  ];
  const source = { label: 'test/both', wgsl, constants: {}, bindings: ['write'] } as const;
  await expect(createKernel(await testGpu(), source)).rejects.toThrow('A component of a vector of both is written');
});
