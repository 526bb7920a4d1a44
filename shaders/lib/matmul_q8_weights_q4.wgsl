// The carried weights of matmul_q8.wgsl, w[j] = d * (q[j] - 8) in the layout of weights_q4.wgsl. A nibble less 8 becomes a
// signed byte, 16 times too large, in two operations: moved into the high half of the byte, its top bit flipped. d makes up for it.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS) halves, two to a word

struct Carried { q: vec4<u32>, d: f32 }

fn carry_weights(block: u32) -> Carried { return Carried(weights[block], block_scale(block) / 16.0); }

fn unpack_weights(w: Carried) -> Quants {
  let mask = vec4(0xf0f0f0f0u);
  let sign = vec4(0x80808080u);
  return Quants(((w.q << vec4(4u)) & mask) ^ sign, (w.q & mask) ^ sign, w.d);
}
