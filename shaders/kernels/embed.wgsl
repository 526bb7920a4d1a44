// x[t, :] = embedding[tokens[position + t], :]
// One workgroup gathers one token row; each thread strides over its blocks of 32.
// Constants: VOCAB_SIZE, COLS. weight_block: lib/weights_*.wgsl.
const BLOCKS = COLS / 32u;

@group(0) @binding(2) var<storage, read> tokens: array<u32>;            // (CONTEXT + 1): the token at each position
@group(0) @binding(3) var<storage, read_write> x: array<vec4<f32>>;     // (n_tokens, COLS / 4)

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token = group.x;
  let id = min(tokens[step.position + token], VOCAB_SIZE - 1u);
  for (var block = lid; block < BLOCKS; block += 64u) {
    let w = weight_block(id * BLOCKS + block);
    for (var i = 0u; i < 8u; i++) { x[(token * BLOCKS + block) * 8u + i] = w[i]; }
  }
}
