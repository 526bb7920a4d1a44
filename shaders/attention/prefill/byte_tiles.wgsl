// Keys and values in signed bytes, in tiles of 64 keys: q = round(x / d), d = max|x| / 127, as in
// elementwise/quantize_activations.wgsl. Constants: HEAD_DIM, CONTEXT, ZERO_BELOW.
const TILE = 64u;                                // keys
const BLOCKS = HEAD_DIM / 32u;                   // of columns with one scale of a key
const SLABS = HEAD_DIM / 16u;                    // of columns in a vec4 of bytes
const HEAD_TILES = (CONTEXT + TILE - 1u) / TILE; // of a head

// The place of a tile.
fn tile_of(head: u32, tile: u32) -> u32 { return head * HEAD_TILES + tile; }

// Magnitudes by their bits: those of a NaN are above all others.
fn magnitudes(x: vec4<f32>) -> vec4<u32> { return bitcast<vec4<u32>>(x) & vec4(0x7fffffffu); }
fn d_of(m: vec4<u32>) -> vec4<f32> { return bitcast<vec4<f32>>(m) / 127.0; }
// 1 / d; zeros have none.
fn factors(m: vec4<u32>) -> vec4<f32> {
  return select(127.0 / bitcast<vec4<f32>>(m), vec4(0.0), m < vec4(bitcast<u32>(ZERO_BELOW)));
}
fn rounded(x: vec4<f32>, factor: vec4<f32>) -> vec4<i32> { return vec4<i32>(round(x * factor)); }

// A block of 32 columns: 0 to 15 and 16 to 31.
struct BlockBytes { low: vec4<u32>, high: vec4<u32>, d: f32 }
fn block_bytes(x: array<vec4<f32>, 8>) -> BlockBytes {
  var m: vec4<u32>;
  for (var j = 0u; j < 8u; j++) { m = max(m, magnitudes(x[j])); }
  let most = vec4(max(max(m.x, m.y), max(m.z, m.w)));
  let factor = factors(most);
  var words: array<u32, 8>;
  for (var j = 0u; j < 8u; j++) { words[j] = pack4xI8(rounded(x[j], factor)); }
  let low = vec4(words[0], words[1], words[2], words[3]);
  return BlockBytes(low, vec4(words[4], words[5], words[6], words[7]), d_of(most).x);
}
