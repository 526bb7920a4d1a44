// Keys and values of a split in signed bytes, with a scale for each row: loads, the tile of values in workgroup memory,
// and those of the step. In workgroup memory bytes are halves, which hold them exactly; p takes the scale of its value.
// Library of attention.wgsl: kv_q8, kv_scales_octs. Every workgroup quantizes the step's key and value for itself, as
// linear/epilogues/put_rows_q8.wgsl does.
struct LaneOcts { octs: array<KvOct, LANE_OCTS>, scale: f32 }

const LEAST = 1e-30f;                       // a row of smaller numbers is zero
const NOT_FINITE = 0x7f800000u;             // so is the row of a NaN or an infinity, and its scale a NaN

var<workgroup> fresh: array<u32, DIM / 2u>; // bytes of the step's key, then value
var<workgroup> fresh_scales: array<u32, 2>; // their bits
var<workgroup> tile_scales: array<f32, TILE>;

fn halves(x: KvQuad) -> vec2<u32> {
  let value = kv_quad(x);
  return vec2(pack2x16float(value.xy), pack2x16float(value.zw));
}
fn value_at(at: u32) -> vec4<f32> { return vec4(unpack2x16float(x_words[at].x), unpack2x16float(x_words[at].y)); }

fn put_values(v: LaneOcts, key: u32) {
  for (var i = 0u; i < LANE_OCTS; i++) {
    let at = key * (DIM / 4u) + 2u * (lid % K_LANES * LANE_OCTS + i);
    x_words[at] = halves(v.octs[i].x);
    x_words[at + 1u] = halves(v.octs[i].y);
  }
  if (lid % K_LANES == 0u) { tile_scales[key] = v.scale; }
}

// p as it is multiplied with the values of key j of the tile.
fn kept_p(p: f32, j: u32) -> f32 { return p * tile_scales[j]; }

// The row of a key among the scales, for key_scale and value_scale. `first` is the first oct of its layer and head.
fn scale_row(first: u32, key: u32) -> u32 {
  let head_row = kv_head_of() * CONTEXT;
  return 2u * (first - head_row * OCTS) + head_row + key;
}

fn load_keys(first: u32, key: u32) -> LaneOcts {
  var loaded: LaneOcts;
  for (var i = 0u; i < LANE_OCTS; i++) { loaded.octs[i] = k_cache[first + key * OCTS + lid % K_LANES * LANE_OCTS + i]; }
  loaded.scale = key_scale(scale_row(first, key));
  return loaded;
}

fn load_values(first: u32, key: u32) -> LaneOcts {
  var loaded: LaneOcts;
  for (var i = 0u; i < LANE_OCTS; i++) { loaded.octs[i] = v_cache[first + key * OCTS + lid % K_LANES * LANE_OCTS + i]; }
  loaded.scale = value_scale(scale_row(first, key));
  return loaded;
}

// Pair i of the step's key, then value: in the place of the pair that came.
fn put_fresh(i: u32, y: vec2<f32>) {
  heads[GROUP * DIM + 2u * i] = y.x;
  heads[GROUP * DIM + 2u * i + 1u] = y.y;
}

// Quantizes both, SUBGROUP threads each.
fn finish_fresh() {
  for (var kind = lid / SUBGROUP; kind < 2u; kind += THREADS / SUBGROUP) {
    let row = (GROUP + kind) * DIM;
    var most = 0u;
    for (var i = lid % SUBGROUP; i < DIM; i += SUBGROUP) { most = max(most, bitcast<u32>(heads[row + i]) & 0x7fffffffu); }
    for (var stride = SUBGROUP / 2u; stride > 0u; stride /= 2u) { most = max(most, subgroupShuffleXor(most, stride)); }
    let is_zero = most < bitcast<u32>(LEAST) || most >= NOT_FINITE;
    let inverse = select(127.0 / bitcast<f32>(most), 0.0, is_zero);
    for (var i = lid % SUBGROUP; i < DIM / 4u; i += SUBGROUP) {
      let at = row + 4u * i;
      let quad = vec4(heads[at], heads[at + 1u], heads[at + 2u], heads[at + 3u]);
      fresh[kind * (DIM / 4u) + i] = pack4xI8(vec4<i32>(round(quad * inverse)));
    }
    if (lid % SUBGROUP == 0u) {
      let scale = select(bitcast<u32>(bitcast<f32>(most) / 127.0), 0u, is_zero);
      fresh_scales[kind] = select(scale, 0x7fc00000u, most >= NOT_FINITE);
    }
  }
  workgroupBarrier();
}

// The key (0) or value (1) of this step.
fn fresh_oct(kind: u32, oct: u32) -> KvOct {
  let at = kind * (DIM / 4u) + 2u * oct;
  return vec2(fresh[at], fresh[at + 1u]);
}

fn fresh_octs(kind: u32) -> LaneOcts {
  var made: LaneOcts;
  for (var i = 0u; i < LANE_OCTS; i++) { made.octs[i] = fresh_oct(kind, lid % K_LANES * LANE_OCTS + i); }
  made.scale = bitcast<f32>(fresh_scales[kind]);
  return made;
}

fn store_scales(first: u32) {
  let row = scale_row(first, step.position);
  if (lid == 0u) { k_cache[kv_scales() + row / 2u][row % 2u] = fresh_scales[0]; }
  if (lid == OCTS) { v_cache[kv_scales() + row / 2u][row % 2u] = fresh_scales[1]; }
}
