// Keys and values of a tile as floats or halves. Library of attention_tiles: fresh_pairs.
struct LaneOcts { octs: array<KvOct, LANE_OCTS> }

fn value_of(low: vec2<u32>, high: vec2<u32>) -> vec4<f32> { return kv_quad(kv_quad_of(low, high)); }

fn put_values(v: LaneOcts) {
  let key = lid % THREADS / K_LANES;
  for (var i = 0u; i < LANE_OCTS; i++) {
    let quad = 2u * (i * K_LANES + lid % K_LANES) + key;
    for (var j = 0u; j < QUAD_PAIRS; j++) {
      x_words[(key * QUADS + quad % QUADS) * QUAD_PAIRS + j] = kv_pairs(kv_low(v.octs[i]), j);
      x_words[(key * QUADS + (quad + 1u) % QUADS) * QUAD_PAIRS + j] = kv_pairs(kv_high(v.octs[i]), j);
    }
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
