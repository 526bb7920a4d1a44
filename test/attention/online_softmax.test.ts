// The state of a softmax over any split of its scores is the state over all of them.

import { expect, test } from 'vitest';
import onlineSoftmax from '../../shaders/attention/online_softmax.wgsl?raw';
import { CommandList, createKernel } from '../../src/gpu/kernel';
import { hardwareGpu } from '../gpu/test_device';

// out[i] = the state of scores (n_rows, COUNT) of row i, merged from one state per score.
const wgsl = `
@group(0) @binding(0) var<storage, read> scores: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<f32>>;
fn merge(a: SoftmaxState, b: SoftmaxState) -> SoftmaxState {
  let m = max(a.m, b.m);
  return SoftmaxState(m, a.l * softmax_p(a.m, m) + b.l * softmax_p(b.m, m));
}
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) wid: vec3<u32>) {
  var state = SoftmaxState(M_START, 0.0);
  for (var i = 0u; i < COUNT; i++) {
    let score = scores[wid.x * COUNT + i];
    let m = max(M_START, score);
    state = merge(state, SoftmaxState(m, softmax_p(score, m)));
  }
  state = merge(state, SoftmaxState(M_START, 0.0));
  out[wid.x] = vec2(state.m, state.l);
}`;

test('merged states equal the softmax of all scores, empty sets, masked and hugely negative scores included', async () => {
  const MASKED = Number(/MASKED = (.*);/.exec(onlineSoftmax)?.[1]);
  const rows = [
    [0.5, -1, 3, 2],
    [3, 2, 0.5, -1],
    [-1e20, -1e20, -1e20, -1e20],
    [1e20, -1e20, 0, 1e20],
    [-0, 0, -0, 0],
    [MASKED, 5, MASKED, 4],
    [MASKED, MASKED, MASKED, MASKED],
  ];
  const gpu = await hardwareGpu();
  const kernel = await createKernel(gpu, {
    label: 'test/online_softmax',
    wgsl: [onlineSoftmax, wgsl],
    constants: { HEAD_DIM: 64, COUNT: 4 },
    bindings: ['read', 'write'],
  });
  const out = gpu.upload('out', new Float32Array(2 * rows.length));
  const list = new CommandList(gpu);
  list.add(kernel, kernel.bind(gpu.upload('scores', new Float32Array(rows.flat())), out), rows.length);
  await list.run({ position: 0, nTokens: 1 });
  const states = new Float32Array(await gpu.read(out, 8 * rows.length));
  for (const [i, row] of rows.entries()) {
    const m = Math.fround(Math.max(-1e30, ...row));
    expect(states[2 * i]).toBe(m);
    expect(states[2 * i + 1]).toBeCloseTo(
      row.reduce((l, score) => l + (score === MASKED ? 0 : 2 ** (Math.fround(score) - m)), 0),
      5,
    );
  }
});
