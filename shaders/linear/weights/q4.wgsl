// w[j] = d * (q[j] - 8), q unsigned 4 bits (GGUF Q4_0): a block is one vec4<u32>, element j in the low nibble of byte j and
// element 16 + j in the high one, so that masking gives two runs of consecutive quads.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS)
@group(0) @binding(1) var<storage, read> scales: array<u32>;         // (rows, BLOCKS) halves, two to a word

struct Packed { q: vec4<u32>, d: f32 }

fn load_packed(block: u32) -> Packed { return Packed(weights[block], block_scale(block)); }

fn quad(d: f32, nibbles: u32) -> vec4<f32> { return d * (vec4<f32>(unpack4xU8(nibbles & 0x0f0f0f0fu)) - 8.0); }

fn dequantize(w: Packed) -> Block {
  let high = w.q >> vec4(4u);
  return Block(
    quad(w.d, w.q.x), quad(w.d, w.q.y), quad(w.d, w.q.z), quad(w.d, w.q.w),
    quad(w.d, high.x), quad(w.d, high.y), quad(w.d, high.z), quad(w.d, high.w),
  );
}
