// x[t, :] = SCALE * embedding[tokens[token_at(t, 0)], :]
// One workgroup gathers one token row, if it is among rows ROW0 .. ROW0 + PART_ROWS, which are bound; each thread
// strides over its blocks of 32. Constants: VOCAB_SIZE, ROW0, PART_ROWS, COLS, SCALE. Libraries: weights/*.
const BLOCKS = COLS / 32u;

@group(0) @binding(2) var<storage, read> tokens: array<u32>;            // the ids: see places
@group(0) @binding(3) var<storage, read_write> x: array<vec4<f32>>;     // (n_tokens, COLS / 4)

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token = group.x;
  let id = min(tokens[token_at(token, 0u)], VOCAB_SIZE - 1u);
  let row = id - ROW0;   // wraps for ids before the part
  if (row >= PART_ROWS) { return; }
  for (var block = lid; block < BLOCKS; block += 64u) {
    let w = dequantize(load_packed(row * BLOCKS + block));
    let at = (token * BLOCKS + block) * 8u;
    x[at] = SCALE * w.a;
    x[at + 1u] = SCALE * w.b;
    x[at + 2u] = SCALE * w.c;
    x[at + 3u] = SCALE * w.d;
    x[at + 4u] = SCALE * w.e;
    x[at + 5u] = SCALE * w.f;
    x[at + 6u] = SCALE * w.g;
    x[at + 7u] = SCALE * w.h;
  }
}
