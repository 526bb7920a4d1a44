// The check with Naga: it refuses what Dawn takes, and leaves alone what Firefox never sees.

import { expect, test } from 'vitest';
import { createKernel } from '../../src/gpu/kernel';
import { checkWithNaga } from './naga';
import { PATHS, pathName, testGpu } from './test_device';

/** A function that Naga takes to end without a value. */
const LOOP = 'fn f(x: u32) -> u32 { loop { if (x > 2u) { return x; } } }';
const MAIN = '@compute @workgroup_size(1) fn main() { out[0] = f(3u); }';
const OUT = '@group(0) @binding(0) var<storage, read_write> out: array<u32>;';
const CODE = `${OUT}\n${LOOP}\n${MAIN}`;

test('a shader that Naga refuses is told with its function', () => {
  expect(() => checkWithNaga(CODE)).toThrow(/Firefox refuses[\s\S]*'f' is invalid/);
  expect(() => checkWithNaga('fn f() -> u32 { return nothing; }')).toThrow(/Firefox refuses[\s\S]*nothing/);
});

test('what asks for an extension is for other browsers', () => {
  expect(() => checkWithNaga(`enable subgroups;\n${CODE}`)).not.toThrow();
});

test.each(PATHS.map((without) => [pathName(without), without] as const))(
  'devices of tests check each shader that is for every browser, %s',
  async (_, without) => {
    const source = { label: 'test/loop', wgsl: [OUT, LOOP, MAIN], constants: {}, bindings: ['write'] } as const;
    await expect(createKernel(await testGpu(without), source)).rejects.toThrow(/Firefox refuses/);
  },
);

test('Dawn takes what Naga refuses', async () => {
  const { device } = await testGpu();
  const info = await device.createShaderModule({ code: `enable subgroups;\n${CODE}` }).getCompilationInfo();
  expect(info.messages).toEqual([]);
});
