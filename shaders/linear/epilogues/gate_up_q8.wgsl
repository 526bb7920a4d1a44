// h[i] = activation(gate) * up as in gate_up.wgsl, of one token, quantized in blocks of 32 for the down projection:
// finish of matvec.wgsl over the rows of Wg and Wu interleaved. A workgroup has whole blocks, 64 rows each. Libraries:
// activation, quads_q8.
const QUANTIZED_QUADS = ROWS_PER_WORKGROUP / 8u;

@group(0) @binding(4) var<storage, read_write> quantized: array<u32>;   // (ROWS / 2) bytes, then (ROWS / 64) f32 d

fn fetch_ahead(first_row: u32, lid: u32) {}

fn finish(first_row: u32, lid: u32) {
  for (var i = lid; i < ROWS_PER_WORKGROUP / 2u; i += WORKGROUP) {
    let y = y_pair(first_row, 2u * i);
    quads[i / 4u][i % 4u] = activation(y.x) * y.y;
  }
  workgroupBarrier();
  for (var i = lid; i < min(QUANTIZED_QUADS, (PART_ROWS - first_row) / 8u); i += WORKGROUP) {
    let quad = (ROW0 + first_row) / 8u + i;
    put_quad_q8(i, quad, ROWS / 8u + quad / 8u);
  }
}
