// w[j] = d * q[j], q signed 8 bits (GGUF Q8_0): a block is two vec4<u32>, its f16 scale in a plane of its own.
// Libraries: quants, block_scale.
@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;  // (rows, BLOCKS, 2)

struct Packed { low: vec4<u32>, high: vec4<u32>, d: f32 }

struct Raw { low: vec4<u32>, high: vec4<u32>, pair: u32 }

fn load_raw(block: u32) -> Raw { return Raw(weights[block * 2u], weights[block * 2u + 1u], scale_pair(block)); }

fn packed(raw: Raw, block: u32) -> Packed { return Packed(raw.low, raw.high, scale_of(raw.pair, block)); }

fn quad(d: f32, q: u32) -> vec4<f32> { return d * vec4<f32>(unpack4xI8(q)); }

fn dequantize(w: Packed) -> Block {
  return Block(
    quad(w.d, w.low.x), quad(w.d, w.low.y), quad(w.d, w.low.z), quad(w.d, w.low.w),
    quad(w.d, w.high.x), quad(w.d, w.high.y), quad(w.d, w.high.z), quad(w.d, w.high.w),
  );
}

fn unpack(w: Packed) -> Quants { return Quants(w.low, w.high, w.d); }
