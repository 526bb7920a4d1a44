// Weights as they are: a block is 32 values in eight vec4<u32>.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 8)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // unused

alias Packed = Block;

fn quad(i: u32) -> vec4<f32> { return bitcast<vec4<f32>>(weights[i]); }

fn load_packed(block: u32) -> Packed {
  let i = block * 8u;
  return Block(quad(i), quad(i + 1u), quad(i + 2u), quad(i + 3u), quad(i + 4u), quad(i + 5u), quad(i + 6u), quad(i + 7u));
}

fn dequantize(w: Packed) -> Block { return w; }
