// Keys and values of a tile as floats or halves. Library of attention_tiles: fresh_pairs.
struct LaneOcts { octs: array<KvOct, LANE_OCTS> }

fn put_value(at: u32, value: KvQuad) {
  for (var i = 0u; i < QUAD_PAIRS; i++) { x_words[at * QUAD_PAIRS + i] = kv_pairs(value, i); }
}
fn value_at(at: u32) -> vec4<f32> {
  return kv_quad(kv_quad_of(x_words[at * QUAD_PAIRS], x_words[at * QUAD_PAIRS + QUAD_PAIRS - 1u]));
}

fn put_values(v: LaneOcts, key: u32) {
  for (var i = 0u; i < LANE_OCTS; i++) {
    put_value(value_place(key, 2u * lane_oct(i)), kv_low(v.octs[i]));
    put_value(value_place(key, 2u * lane_oct(i) + 1u), kv_high(v.octs[i]));
  }
}

// p as it is multiplied with the values of key j of the tile.
fn kept_p(p: f32, j: u32) -> f32 { return p; }

fn load_keys(first: u32, key: u32) -> LaneOcts {
  var loaded: LaneOcts;
  for (var i = 0u; i < LANE_OCTS; i++) { loaded.octs[i] = k_cache[first + key * OCTS + lane_oct(i)]; }
  return loaded;
}

fn load_values(first: u32, key: u32) -> LaneOcts {
  var loaded: LaneOcts;
  for (var i = 0u; i < LANE_OCTS; i++) { loaded.octs[i] = v_cache[first + key * OCTS + lane_oct(i)]; }
  return loaded;
}

fn fresh_octs(kind: u32) -> LaneOcts {
  var made: LaneOcts;
  for (var i = 0u; i < LANE_OCTS; i++) { made.octs[i] = fresh_oct(kind, lane_oct(i)); }
  return made;
}

fn store_scales(first: u32) {}
