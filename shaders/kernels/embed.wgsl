// x[t, :] = embedding[tokens[position + t], :]
// One workgroup gathers one token row; each thread strides over its blocks of 32.
// Constants: VOCAB_SIZE, COLS. Libraries: block, weights_*.
const BLOCKS = COLS / 32u;

@group(0) @binding(2) var<storage, read> tokens: array<u32>;            // (CONTEXT + 1): the token at each position
@group(0) @binding(3) var<storage, read_write> x: array<vec4<f32>>;     // (n_tokens, COLS / 4)

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token = group.x;
  let id = min(tokens[step.position + token], VOCAB_SIZE - 1u);
  for (var block = lid; block < BLOCKS; block += 64u) {
    let w = weight_block(id * BLOCKS + block);
    let at = (token * BLOCKS + block) * 8u;
    x[at] = w.a;
    x[at + 1u] = w.b;
    x[at + 2u] = w.c;
    x[at + 3u] = w.d;
    x[at + 4u] = w.e;
    x[at + 5u] = w.f;
    x[at + 6u] = w.g;
    x[at + 7u] = w.h;
  }
}
