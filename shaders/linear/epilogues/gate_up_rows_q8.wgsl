// h[t, i] = activation(gate) * up as in gate_up.wgsl, of the tokens of a matmul_few, quantized in blocks of 32 for the
// down projection. A workgroup has whole blocks, 64 rows each. Libraries: activation, quads_q8.
const TOKEN_QUADS = ROWS_PER_WORKGROUP / 8u;   // of a token, in a workgroup
const QUANTIZED_QUADS = 8u * TOKEN_QUADS;

// (n_tokens, ROWS / 2) bytes, then (n_tokens, ROWS / 64) f32 d
@group(0) @binding(4) var<storage, read_write> quantized: array<u32>;

fn fetch(token: u32, row: u32) -> vec2<f32> { return vec2(0.0); }

fn emit(token: u32, row: u32, y: vec2<f32>, fetched: vec2<f32>) {
  let i = (row - ROW0) / 2u % (ROWS_PER_WORKGROUP / 2u);
  quads[token * TOKEN_QUADS + i / 4u][i % 4u] = activation(y.x) * y.y;
}

fn finish(first_row: u32, lid: u32) {
  workgroupBarrier();
  for (var i = lid; i < step.n_tokens * TOKEN_QUADS; i += WORKGROUP) {
    let part_row = first_row + i % TOKEN_QUADS * 8u;
    if (part_row >= PART_ROWS) { continue; }
    let quad = i / TOKEN_QUADS * (ROWS / 8u) + (ROW0 + part_row) / 8u;
    put_quad_q8(i, quad, step.n_tokens * (ROWS / 8u) + quad / 8u);
  }
}
