// The carried weights of matmul_q8.wgsl, w[j] = d * q[j] in the layout of weights_q8.wgsl: signed bytes in the order of k.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 2)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS) halves, two to a word

alias Carried = Quants;

fn carry_weights(block: u32) -> Carried {
  return Quants(weights[block * 2u], weights[block * 2u + 1u], block_scale(block));
}

fn unpack_weights(w: Carried) -> Quants { return w; }
