// w[j] = d * (q[j] - 8), q unsigned 4 bits (GGUF Q4_0): a block is one vec4<u32>, element j in the low nibble of byte j
// and element 16 + j in the high one, so that masking gives two runs of consecutive quads. Libraries: quants,
// block_scale.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS)

struct Packed { q: vec4<u32>, d: f32 }

struct Raw { q: vec4<u32>, pair: u32 }

fn load_raw(block: u32) -> Raw { return Raw(weights[block], scale_pair(block)); }

fn packed(raw: Raw, block: u32) -> Packed { return Packed(raw.q, scale_of(raw.pair, block)); }

fn quad(d: f32, nibbles: u32) -> vec4<f32> { return d * (vec4<f32>(unpack4xU8(nibbles & 0x0f0f0f0fu)) - 8.0); }

fn dequantize(w: Packed) -> Block {
  let high = w.q >> vec4(4u);
  return Block(
    quad(w.d, w.q.x), quad(w.d, w.q.y), quad(w.d, w.q.z), quad(w.d, w.q.w),
    quad(w.d, high.x), quad(w.d, high.y), quad(w.d, high.z), quad(w.d, high.w),
  );
}

// A nibble less 8 becomes a signed byte, 16 times too large, in two operations: moved into the high half of its byte,
// and the top bit flipped. The scale makes up for it.
fn unpack(w: Packed) -> Quants {
  let mask = vec4(0xf0f0f0f0u);
  let sign = vec4(0x80808080u);
  return Quants(((w.q << vec4(4u)) & mask) ^ sign, (w.q & mask) ^ sign, w.d / 16.0);
}
