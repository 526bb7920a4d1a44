// h[i] = activation(gate) * up as in gate_up.wgsl, of one token, quantized in blocks of 32 for the down projection:
// finish of matvec.wgsl over the rows of Wg and Wu interleaved. A workgroup has whole blocks, 64 rows each. Libraries:
// activation.
@group(0) @binding(4) var<storage, read_write> h: array<u32>;   // (ROWS / 2) bytes, then (ROWS / 64) f32 d

var<workgroup> h_quads: array<vec4<f32>, ROWS_PER_WORKGROUP / 8u>;

fn block_largest(first: u32) -> f32 {
  let low = max(max(abs(h_quads[first]), abs(h_quads[first + 1u])), max(abs(h_quads[first + 2u]), abs(h_quads[first + 3u])));
  let high = max(max(abs(h_quads[first + 4u]), abs(h_quads[first + 5u])), max(abs(h_quads[first + 6u]), abs(h_quads[first + 7u])));
  let all = max(low, high);
  return max(max(all.x, all.y), max(all.z, all.w));
}

fn fetch_ahead(first_row: u32, lid: u32) {}

fn finish(first_row: u32, lid: u32) {
  for (var i = lid; i < ROWS_PER_WORKGROUP / 2u; i += WORKGROUP) {
    let y = y_pair(first_row, 2u * i);
    h_quads[i / 4u][i % 4u] = activation(y.x) * y.y;
  }
  workgroupBarrier();
  for (var i = lid; i < ROWS_PER_WORKGROUP / 8u; i += WORKGROUP) {   // a quad of h each
    if (first_row + 8u * i >= PART_ROWS) { continue; }
    let quad = (ROW0 + first_row) / 8u + i;
    let d = block_d(block_largest(i / 8u * 8u));
    h[quad] = quantize_quad(h_quads[i], d.y);
    if (i % 8u == 0u) { h[ROWS / 8u + quad / 8u] = bitcast<u32>(d.x); }
  }
}
