// The kinds of a step's dispatches, told by the labels of their kernels.

import { expect, test } from 'vitest';
import { byKind } from '../../../../bench/page/measure/profile_kernels';
import type { Command } from '../../../../src/gpu/kernel';

const command = (label: string) => ({ label }) as Command;
const LAYER = [
  'kernels/qkv.matvec_to_q8',
  'attention/split_kv_decode.main',
  'kernels/residual.matvec_f32',
  'kernels/gate_up_q8.matvec_to_q8',
  'kernels/residual.matvec_f32',
];

test('a fused step is one dispatch for all layers', () => {
  const step = ['kernels/embed', 'kernels/step', 'kernels/head.matvec_to_q8', 'kernels/sample'].map(command);
  expect([...byKind(step).keys()]).toEqual(['embed', 'layers', 'head', 'sample']);
});

test('a prompt quantizes in front of each product, which does not hide its place', () => {
  const layer = LAYER.flatMap((label) => ['kernels/quantize_activations', label]);
  const counts = [...byKind([...layer, ...layer].map(command))].map(([kind, { length }]) => [kind, length]);
  expect(Object.fromEntries(counts)).toMatchObject({ quantize_activations: 10, o: 2, gate_up: 2, down: 2 });
});

test('down follows gate and up that leave bytes for it', () => {
  const prompt = ['kernels/qkv', 'kernels/residual', 'kernels/gate_up_tile_q8', 'kernels/residual'];
  const named = prompt.map((name) => command(`${name}.matmul_q8`));
  expect([...byKind(named).keys()]).toEqual(['qkv', 'o', 'gate_up', 'down']);
});

test('the two linears that add to the residual stream are told apart by their place', () => {
  const step = ['kernels/embed', ...LAYER, ...LAYER, 'kernels/head.matvec_to_q8', 'kernels/sample'].map(command);
  const counts = [...byKind(step)].map(([kind, commands]) => [kind, commands.length]);
  expect(Object.fromEntries(counts)).toEqual({
    embed: 1,
    qkv: 2,
    attention: 2,
    o: 2,
    gate_up: 2,
    down: 2,
    head: 1,
    sample: 1,
  });
});
