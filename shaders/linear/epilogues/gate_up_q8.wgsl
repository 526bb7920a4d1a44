// h[i] = activation(gate) * up as in gate_up.wgsl, of one token, quantized in blocks of 32 for the down projection:
// finish of matvec.wgsl over the rows of Wg and Wu interleaved. A workgroup has whole blocks, 64 rows each. Libraries:
// activation.
@group(0) @binding(4) var<storage, read_write> h: array<u32>;   // (ROWS / 2) bytes, then (ROWS / 64) f32 d

var<workgroup> h_quads: array<vec4<f32>, ROWS_PER_WORKGROUP / 8u>;

fn magnitudes_at(quad: u32) -> vec4<u32> { return magnitudes(h_quads[quad]); }

fn block_largest(first: u32) -> u32 {
  let low = max(max(magnitudes_at(first), magnitudes_at(first + 1u)), max(magnitudes_at(first + 2u), magnitudes_at(first + 3u)));
  let high = max(max(magnitudes_at(first + 4u), magnitudes_at(first + 5u)), max(magnitudes_at(first + 6u), magnitudes_at(first + 7u)));
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
