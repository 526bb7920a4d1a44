// Keys and values of a tile in signed bytes, with a scale for each row. In workgroup memory bytes are halves, which
// hold them exactly; p takes the scale of its value. Library of attention_tiles: fresh_q8, kv_scales_octs.
struct LaneOcts { octs: array<KvOct, LANE_OCTS>, scale: f32 }

var<workgroup> tile_scales: array<f32, TILE>;

fn halves(x: KvQuad) -> vec2<u32> {
  let value = kv_quad(x);
  return vec2(pack2x16float(value.xy), pack2x16float(value.zw));
}
const QUAD_PAIRS = 1u;
fn value_of(low: vec2<u32>, high: vec2<u32>) -> vec4<f32> { return vec4(unpack2x16float(low.x), unpack2x16float(low.y)); }

fn put_values(v: LaneOcts) {
  let key = lid % THREADS / K_LANES;
  for (var i = 0u; i < LANE_OCTS; i++) {
    let quad = 2u * (i * K_LANES + lid % K_LANES) + key;
    x_words[key * QUADS + quad % QUADS] = halves(v.octs[i].x);
    x_words[key * QUADS + (quad + 1u) % QUADS] = halves(v.octs[i].y);
  }
  if (lid % K_LANES == 0u) { tile_scales[key] = v.scale; }
}

// p as it is multiplied with the values of key j of the tile.
fn kept_p(p: f32, j: u32) -> f32 { return p * tile_scales[j]; }

// The row of a key among the scales, for key_scale and value_scale. `first` is the first oct of its layer and head.
fn scale_row(first: u32, key: u32) -> u32 {
  return 2u * (first - head_row() * OCTS) + head_row() + key;
}

fn load_keys(first: u32, key: u32) -> LaneOcts {
  var loaded: LaneOcts;
  for (var i = 0u; i < LANE_OCTS; i++) { loaded.octs[i] = k_cache[first + key * OCTS + lane_oct(i)]; }
  loaded.scale = key_scale(scale_row(first, key));
  return loaded;
}

fn load_values(first: u32, key: u32) -> LaneOcts {
  var loaded: LaneOcts;
  for (var i = 0u; i < LANE_OCTS; i++) { loaded.octs[i] = v_cache[first + key * OCTS + lane_oct(i)]; }
  loaded.scale = value_scale(scale_row(first, key));
  return loaded;
}

fn fresh_octs(kind: u32) -> LaneOcts {
  var made: LaneOcts;
  for (var i = 0u; i < LANE_OCTS; i++) { made.octs[i] = fresh_oct(kind, lane_oct(i)); }
  made.scale = fresh_scale(kind);
  return made;
}

// The scales of the step's key and value. `first` is the first oct of its layer and head.
fn store_scales(first: u32) {
  let row = scale_row(first, place_of(wg));
  if (lid == 0u) { k_cache[kv_scales() + row / 2u][row % 2u] = fresh_scales[0]; }
  if (lid == OCTS) { v_cache[kv_scales() + row / 2u][row % 2u] = fresh_scales[1]; }
}
