// Attention of one split of the keys for the query heads of one KV head, in tiles: K_LANES threads share a key, and
// keys come in tiles of TILE. The next tile is on its way while one is worked on.
// Constants: K_LANES, LAYER_OCTS.
// Libraries: heads, tile_*, online_softmax. src/kernels/step writes put_scores.
const OCTS = DIM / 8u;
const LANE_OCTS = OCTS / K_LANES;         // octs of a key that a thread has
const TILE = THREADS / K_LANES;
const SLICES = THREADS / GROUP_QUADS;     // threads that share a quad of o

var<workgroup> scores: array<f32, GROUP * TILE>;           // then p
var<workgroup> state: array<vec3<f32>, GROUP>;             // m, l, alpha

// x_words is free during attention: it has the values of a tile, then o of the slices.

fn put_o(o: vec4<f32>) {
  x_words[2u * lid] = bitcast<vec2<u32>>(o.xy);
  x_words[2u * lid + 1u] = bitcast<vec2<u32>>(o.zw);
}
fn o_at(i: u32) -> vec4<f32> { return vec4(bitcast<vec2<f32>>(x_words[2u * i]), bitcast<vec2<f32>>(x_words[2u * i + 1u])); }

// p of the tile's scores, and m, l and alpha of each head. SUBGROUP threads take a head.
fn weigh_tile() {
  for (var h = lid / SUBGROUP; h < GROUP; h += THREADS / SUBGROUP) {
    let before = state[h];
    var m = before.x;
    for (var j = lid % SUBGROUP; j < TILE; j += SUBGROUP) { m = max(m, scores[h * TILE + j]); }
    m = bitcast<f32>((bitcast<u32>(max_lanes(m)) + 0x80u) & 0xffffff00u);    // as it will be published; l has a NaN
    var l = 0.0;
    for (var j = lid % SUBGROUP; j < TILE; j += SUBGROUP) {
      let p = softmax_p(scores[h * TILE + j], m);
      scores[h * TILE + j] = kept_p(p, j);
      l += p;
    }
    let alpha = softmax_p(before.x, m);
    l = add_lanes(l, SUBGROUP) + alpha * before.y;
    if (lid % SUBGROUP == 0u) { state[h] = vec3(m, l, alpha); }
  }
}

var<private> first_k: LaneOcts;    // of the first tile
var<private> first_v: LaneOcts;

fn cache_at(layer: u32) -> u32 { return layer * LAYER_OCTS + head_row() * OCTS; }

// Issues the loads of the first tile.
fn load_tile(layer: u32) {
  let key = min(split_begin(wg) + lid / K_LANES, split_newest(wg));
  first_k = load_keys(cache_at(layer), key);
  first_v = load_values(cache_at(layer), key);
}

fn attend(group: u32, layer: u32, tag: u32) {
  if (APART) { load_tile(layer); }
  let begin = split_begin(group);
  let end = split_end(group);
  let first = cache_at(layer);
  let newest = split_newest(group);
  let key = lid / K_LANES;
  var k = first_k;
  var v = first_v;
  if (lid < GROUP) { state[lid] = vec3(M_START, 0.0, 0.0); }
  take_turned(layer, tag);
  if (has_own_key(group) && lid < 2u * OCTS) {
    let at = first + place_of(group) * OCTS + lid % OCTS;
    if (lid < OCTS) { k_cache[at] = fresh_oct(0u, lid); } else { v_cache[at] = fresh_oct(1u, lid - OCTS); }
    store_scales(first);
  }
  let quad = lid % GROUP_QUADS;
  let slice = lid / GROUP_QUADS;
  let head = quad / (DIM / 4u);
  var o = vec4(0.0);
  for (var start = begin; start < end; start += TILE) {
    if (start + key == place_of(group)) {
      k = fresh_octs(0u);
      v = fresh_octs(1u);
    }
    put_scores(k, key, start + key < end);
    put_values(v, key);
    if (start + TILE < end) {
      k = load_keys(first, min(start + TILE + key, newest));
      v = load_values(first, min(start + TILE + key, newest));
    }
    workgroupBarrier();
    weigh_tile();
    workgroupBarrier();
    if (slice < SLICES) {
      o *= state[head].z;
      for (var j = slice; j < min(TILE, end - start); j += SLICES) {
        o += scores[head * TILE + j] * value_at(j * (DIM / 4u) + quad % (DIM / 4u));
      }
    }
    workgroupBarrier();
  }
  put_o(o);
  workgroupBarrier();
  let part = PARTS_AT + group * PART_WORDS;
  if (is_busy(group) && lid < GROUP_QUADS) {
    for (var s = 1u; s < SLICES; s++) { o += o_at(s * GROUP_QUADS + lid); }
    for (var i = 0u; i < 4u; i++) { publish(part + 4u * lid + i, float24(o[i]), tag); }
  }
  if (is_busy(group) && lid < GROUP) {
    publish(part + GROUP * DIM + 2u * lid, float24(state[lid].x), tag);
    publish(part + GROUP * DIM + 2u * lid + 1u, float24(state[lid].y), tag);
  }
}
