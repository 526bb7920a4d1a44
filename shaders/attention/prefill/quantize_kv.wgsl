// The keys and values that a pass sees, in signed bytes, for flash_prefill_q8.wgsl. A key has a scale for each block of
// 32 columns, a column of values one for the 64 keys of a tile. Keys that no query of the pass sees are zeros.
//
// One workgroup for the tiles x, x + TILES, ... (x) of a KV head (y). A thread takes a block of a key, then 8 keys of a
// quad of columns.
// Constants: N_KV_HEADS, HEAD_DIM; TILES: workgroups (x); WORKGROUP: 2 HEAD_DIM, for 8 keys of each quad.
// Library: byte_tiles.
@group(0) @binding(0) var<storage, read> k_cache: array<KvQuad>;           // (N_KV_HEADS, kv_room(), QUADS)
@group(0) @binding(1) var<storage, read> v_cache: array<KvQuad>;           // (N_KV_HEADS, kv_room(), QUADS)
// (N_KV_HEADS, HEAD_TILES, SLABS, 64) and (N_KV_HEADS, HEAD_TILES, BLOCKS, 64): keys 0, 8, ... of a tile, then 1, 9,
// ..., so that neighboring threads, with 8 keys each, read neighbors
@group(0) @binding(2) var<storage, read_write> k_bytes: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> k_scales: array<f32>;
// (N_KV_HEADS, HEAD_TILES, 8, HEAD_DIM / 2): bytes of 8 keys of a column in two words, then those of the next column
@group(0) @binding(4) var<storage, read_write> v_bytes: array<vec4<u32>>;
// (N_KV_HEADS, HEAD_TILES, HEAD_DIM / 2): d of two columns, and the bits of 128 times the sums of their bytes
@group(0) @binding(5) var<storage, read_write> v_scales: array<vec4<f32>>;

const QUADS = HEAD_DIM / 4u;

var<workgroup> most: array<vec4<u32>, WORKGROUP>; // magnitudes of 8 keys and a quad of columns
var<workgroup> sums: array<vec4<i32>, WORKGROUP>; // of their bytes

fn is_seen(key: u32) -> bool {
  return key >= first_seen(step.position + 1u) && key < step.position + step.n_tokens;
}

fn quantize_keys(head: u32, tile: u32, i: u32) {
  let key = tile * TILE + i / BLOCKS;
  let block = i % BLOCKS;
  var x: array<vec4<f32>, 8>;
  if (is_seen(key)) {
    let row = head * kv_room() + slot_of(key);
    let scale = key_scale(row);
    for (var j = 0u; j < 8u; j++) { x[j] = kv_quad(k_cache[row * QUADS + block * 8u + j]) * scale; }
  }
  let bytes = block_bytes(x);
  let to = tile_of(head, tile);
  let place = key % 8u * 8u + key % TILE / 8u;
  k_scales[(to * BLOCKS + block) * TILE + place] = bytes.d;
  k_bytes[(to * SLABS + block * 2u) * TILE + place] = bytes.low;
  k_bytes[(to * SLABS + block * 2u + 1u) * TILE + place] = bytes.high;
}

fn load_values(head: u32, first: u32, quad: u32) -> array<vec4<f32>, 8> {
  var x: array<vec4<f32>, 8>;
  for (var j = 0u; j < 8u; j++) {
    if (is_seen(first + j)) {
      let row = head * kv_room() + slot_of(first + j);
      x[j] = kv_quad(v_cache[row * QUADS + quad]) * value_scale(row);
    }
  }
  return x;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let head = wid.y;
  let first = first_seen(step.position + 1u) / TILE;
  enter_ring(first_seen(step.position + 1u));
  let octet = lid / QUADS;
  let quad = lid % QUADS;
  for (var tile = first + wid.x; tile * TILE < step.position + step.n_tokens; tile += TILES) {
    for (var i = lid; i < TILE * BLOCKS; i += WORKGROUP) { quantize_keys(head, tile, i); }
    let to = tile_of(head, tile);
    let x = load_values(head, tile * TILE + octet * 8u, quad);
    var m: vec4<u32>;
    for (var j = 0u; j < 8u; j++) { m = max(m, magnitudes(x[j])); }
    most[lid] = m;
    workgroupBarrier();
    for (var i = 0u; i < 8u; i++) { m = max(m, most[i * QUADS + quad]); }
    let factor = factors(m);
    var bytes: array<vec4<i32>, 8>;
    var sum: vec4<i32>;
    for (var j = 0u; j < 8u; j++) {
      bytes[j] = rounded(x[j], factor);
      sum += bytes[j];
    }
    sums[lid] = sum;
    for (var pair = 0u; pair < 2u; pair++) {
      var words: vec4<u32>;
      for (var i = 0u; i < 4u; i++) {
        let c = pair * 2u + i / 2u;
        let j = i % 2u * 4u;
        words[i] = pack4xI8(vec4(bytes[j][c], bytes[j + 1u][c], bytes[j + 2u][c], bytes[j + 3u][c]));
      }
      v_bytes[(to * 8u + octet) * QUADS * 2u + quad * 2u + pair] = words;
    }
    workgroupBarrier();
    if (octet == 0u) {
      for (var i = 1u; i < 8u; i++) { sum += sums[i * QUADS + quad]; }
      let d = d_of(m);
      let start = bitcast<vec4<f32>>(128 * sum);
      v_scales[(to * QUADS + quad) * 2u] = vec4(d.xy, start.xy);
      v_scales[(to * QUADS + quad) * 2u + 1u] = vec4(d.zw, start.zw);
    }
  }
}
