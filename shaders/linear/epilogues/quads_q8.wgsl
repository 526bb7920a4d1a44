// A vector in quads of workgroup memory, in signed bytes: blocks of 32 with a d each. Constants: QUANTIZED_QUADS: quads
// that wait; ZERO_BELOW. Libraries: quantize_block. The kernel binds `quantized: array<u32>`.
var<workgroup> quads: array<vec4<f32>, QUANTIZED_QUADS>;

fn block_largest(first: u32) -> u32 {
  var most = vec4(0u);
  for (var i = first; i < first + 8u; i++) { most = max(most, magnitudes(quads[i])); }
  return max(max(most.x, most.y), max(most.z, most.w));
}

// Writes quad i, the word `at` of what is bound; the first quad of a block also writes d, the word d_at.
fn put_quad_q8(i: u32, at: u32, d_at: u32) {
  let d = block_d(block_largest(i / 8u * 8u));
  quantized[at] = quantize_quad(quads[i], d.y);
  if (i % 8u == 0u) { quantized[d_at] = bitcast<u32>(d.x); }
}
