// Attention of one split of the keys for the query heads of one KV head, by lanes of subgroups (attention/lanes/lanes):
// for long caches, since no barrier stands between tiles. Keys and values are floats or halves.
// Constants: those of lanes; LAYER_OCTS.
// Libraries: heads, fresh_pairs, columns, lanes, lane_keys_pairs, kv_scales_none.
const OWN_KEY = true;

// `part`: the first word of this workgroup's m, l and o.
struct Work { part: u32, tag: u32, busy: bool }

// No layer has a window, and no score a cap.
fn slot_of(key: u32) -> u32 { return key; }
fn softcap4(score: Heads) -> Heads { return score; }

var<private> first_keys: Keys;        // of the first tile
var<private> first_values: Values;

fn q_at(work: Work, h: u32, d: u32) -> Heads {
  var x = Heads(0.0);
  for (var j = 0u; j < 4u; j++) {
    let head = 4u * h + j;
    if (head < GROUP && d < DIM) { x[j] = q_heads[(head * DIM + d) / 4u][d % 4u]; }
  }
  return x;
}

// x_words is free during attention.
fn put_column(i: u32, x: Heads) {
  x_words[2u * i] = bitcast<vec2<u32>>(x.xy);
  x_words[2u * i + 1u] = bitcast<vec2<u32>>(x.zw);
}
fn column_at(i: u32) -> Heads { return vec4(bitcast<vec2<f32>>(x_words[2u * i]), bitcast<vec2<f32>>(x_words[2u * i + 1u])); }

// As it will be published; l has a NaN. M_START, of a split without keys, is no max of any score: p of it stays 1.
fn settled(m: Heads) -> Heads {
  return select(bitcast<Heads>((bitcast<vec4<u32>>(m) + vec4(0x80u)) & vec4(0xffffff00u)), m, m == Heads(M_START));
}

fn leave(work: Work, h: u32, m: Heads, l: Heads) {
  for (var j = 0u; j < 4u; j++) {
    let head = 4u * h + j;
    if (work.busy && head < GROUP) {
      publish(work.part + GROUP * DIM + 2u * head, float24(m[j]), work.tag);
      publish(work.part + GROUP * DIM + 2u * head + 1u, float24(l[j]), work.tag);
    }
  }
}

fn emit(work: Work, h: u32, d: u32, o: Heads, l: Heads) {
  for (var j = 0u; j < 4u; j++) {
    let head = 4u * h + j;
    if (work.busy && head < GROUP) { publish(work.part + head * DIM + d, float24(o[j]), work.tag); }
  }
}

fn complete(keys: ptr<function, Keys>, values: ptr<function, Values>, span: Span, start: u32, lane: u32) {
  if (start + lane / KEY_LANES == place_of(wg)) {
    for (var i = 0u; i < CELLS_EACH; i++) { (*keys).cells[i] = fresh_oct(0u, min(i * KEY_LANES + lane % KEY_LANES, CELLS - 1u)); }
  }
  for (var i = 0u; i < V_KEYS; i++) {
    if (start + i * SLICES + lane / V_LANES == place_of(wg)) {
      for (var e = 0u; e < OCTS_EACH; e++) { (*values)[i * OCTS_EACH + e] = fresh_oct(1u, min(e * V_LANES + lane % V_LANES, OCTS - 1u)); }
    }
  }
}

fn span_of(layer: u32) -> Span {
  let first = layer * LAYER_OCTS + head_row() * OCTS;
  return Span(split_begin(wg), split_end(wg), split_newest(wg), first, first, 0u);
}

// Issues the loads of the first tile.
fn load_tile(layer: u32) {
  let span = span_of(layer);
  let start = first_key(span, lid);
  first_keys = load_keys(span, start, lid % SUBGROUP);
  first_values = load_values(span, start, lid % SUBGROUP);
}

fn attend(group: u32, layer: u32, tag: u32) {
  if (APART) { load_tile(layer); }
  let span = span_of(layer);
  take_turned(layer, tag);
  if (has_own_key(group)) {
    let at = span.oct + place_of(group) * OCTS + lid;
    if (lid < OCTS) {
      k_cache[at] = fresh_oct(0u, lid);
      v_cache[at] = fresh_oct(1u, lid);
    }
  }
  let work = Work(PARTS_AT + group * PART_WORDS, tag, is_busy(group));
  load_q(work, lid);
  attend_span(work, span, first_keys, first_values, lid);
}
