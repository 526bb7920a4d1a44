// Attention of one split of the keys for the query heads of one KV head, in tiles: K_LANES threads share a key, and
// keys come in tiles of TILE. The next tile is on its way while one is worked on.
// Constants: K_LANES, LAYER_OCTS, OWN_HEADS (query heads of which a thread has a quad of o).
// Libraries: heads, tile_*, online_softmax. src/kernels/step/tile_state.ts writes the registers.
alias KvCell = KvOct;                     // a key is read in octs, as a value
const OCTS = DIM / 8u;
const LANE_OCTS = OCTS / K_LANES;         // octs of a key that a thread has
const TILE = THREADS / K_LANES;
const COLUMNS = GROUP_QUADS / OWN_HEADS;  // quads of o among which threads are shared out, OWN_HEADS of each
const SLICES = THREADS / COLUMNS;         // threads that share quads of o

var<workgroup> most_of: array<atomic<u32>, GROUP>;    // m of each head so far, as a word that is ordered as floats are

// x_words is free during attention: it has the values of a tile, then o of the slices.

fn ordered(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

// m as it will be published: l and o belong to it.
fn rounded(m: f32) -> f32 { return bitcast<f32>((bitcast<u32>(m) + 0x80u) & 0xffffff00u); }
fn m_of(head: u32) -> f32 {
  let word = atomicLoad(&most_of[head]);
  return rounded(bitcast<f32>(select(~word, word & 0x7fffffffu, word >= 0x80000000u)));
}

// Quad `quad` of value `key` lies at key * QUADS + (quad + key) % QUADS: threads that write the same quad of several
// keys use different banks.
const QUADS = DIM / 4u;

// Octs of a key that a thread has: neighbors read neighbors.
fn lane_oct(i: u32) -> u32 { return i * K_LANES + lid % K_LANES; }

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
  if (lid < GROUP) { atomicStore(&most_of[lid], ordered(M_START)); }
  start_scores();
  start_values();
  take_turned(layer, tag);
  if (has_own_key(group) && lid < 2u * OCTS) {
    let at = first + place_of(group) * OCTS + lid % OCTS;
    if (lid < OCTS) { k_cache[at] = fresh_oct(0u, lid); } else { v_cache[at] = fresh_oct(1u, lid - OCTS); }
    store_scales(first);
  }
  let quad = lid % QUADS;
  let own = lid % COLUMNS / QUADS;          // heads own * OWN_HEADS and up
  let slice = lid % THREADS / COLUMNS;
  for (var start = begin; start < end; start += TILE) {
    if (start + key == place_of(group)) {
      k = fresh_octs(0u);
      v = fresh_octs(1u);
    }
    put_scores(k, key, start + key < end);
    put_values(v);
    if (start + TILE < end) {
      k = load_keys(first, min(start + TILE + key, newest));
      v = load_values(first, min(start + TILE + key, newest));
    }
    workgroupBarrier();
    weigh(key);
    workgroupBarrier();
    if (slice < SLICES) {
      rescale(own * OWN_HEADS);
      for (var n = slice; n < min(TILE, end - start); n += SLICES) {
        let j = n % TILE;
        let at = (j * QUADS + (quad + j) % QUADS) * QUAD_PAIRS;
        add_value(p_tile[own * TILE + j], value_of(x_words[at], x_words[at + QUAD_PAIRS - 1u]));
      }
    }
    workgroupBarrier();
  }
  if (slice < SLICES) { put_o(slice * 2u * GROUP_QUADS + 2u * (own * OWN_HEADS * QUADS + quad)); }
  put_l();
  workgroupBarrier();
  let part = PARTS_AT + group * PART_WORDS;
  if (is_busy(group)) {
    for (var pair = lid; pair < 2u * GROUP_QUADS; pair += THREADS) {
      let i = pair % (2u * GROUP_QUADS);
      var o = vec2(0.0);
      for (var s = 0u; s < SLICES; s++) { o += bitcast<vec2<f32>>(x_words[s * 2u * GROUP_QUADS + i]); }
      publish(part + 2u * i, float24(o.x), tag);
      publish(part + 2u * i + 1u, float24(o.y), tag);
    }
    if (lid < GROUP) {
      var l = 0.0;
      for (var s = 0u; s < THREADS / SUBGROUP; s++) { l += p_at(lid, s); }
      publish(part + GROUP * DIM + 2u * lid, float24(m_of(lid)), tag);
      publish(part + GROUP * DIM + 2u * lid + 1u, float24(l), tag);
    }
  }
}
