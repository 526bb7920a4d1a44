// A vector in quads of workgroup memory, in signed bytes: blocks of 32 with a d each. Constants: QUANTIZED_QUADS: quads
// that wait; ZERO_BELOW. Libraries: quantize_block. The kernel binds `quantized: array<u32>`.
// Arrays, not vectors: a thread that writes one component of a vector may write all of them.
var<workgroup> quads: array<array<f32, 4>, QUANTIZED_QUADS>;

fn quad_at(i: u32) -> vec4<f32> { return vec4(quads[i][0], quads[i][1], quads[i][2], quads[i][3]); }

fn block_largest(first: u32) -> u32 {
  var most = vec4(0u);
  for (var i = first; i < first + 8u; i++) { most = max(most, magnitudes(quad_at(i))); }
  return max(max(most.x, most.y), max(most.z, most.w));
}

// Writes quad i, the word `at` of what is bound; the first quad of a block also writes d, the word d_at.
fn put_quad_q8(i: u32, at: u32, d_at: u32) {
  let d = block_d(block_largest(i / 8u * 8u));
  quantized[at] = quantize_quad(quad_at(i), d.y);
  if (i % 8u == 0u) { quantized[d_at] = bitcast<u32>(d.x); }
}
