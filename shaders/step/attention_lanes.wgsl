// Attention of one split of the keys for the query heads of one KV head, by lanes of subgroups (attention/lanes/lanes):
// for long caches, since no barrier stands between tiles.
// Constants: those of lanes; LAYER_OCTS.
// Libraries: heads, columns, lanes, lane_keys_*; fresh_pairs and kv_scales_none, or fresh_q8, lane_q8, kv_scales_cells.
const OWN_KEY = true;

// `part`: the first word of this workgroup's m, l and o.
struct Work { part: u32, tag: u32, busy: bool }

// No layer has a window, and no score a cap.
fn slot_of(key: u32) -> u32 { return key; }
fn softcap4(score: Heads) -> Heads { return score; }

var<private> first_keys: Keys;        // of the first tile
var<private> first_values: Values;

fn q_quad(work: Work, head: u32, quad: u32) -> vec4<f32> {
  if (head >= GROUP || quad >= DIM / 4u) { return vec4(0.0); }
  let at = head * (DIM / 2u) + 2u * quad;
  return vec4(q_heads[at], q_heads[at + 1u]);
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

// The step's own key is the first of its split, in front of those in the cache: only the first tile has it.
fn complete(keys: ptr<function, Keys>, values: ptr<function, Values>, lid: u32) {
  if (lid >= SUBGROUP || !has_own_key(wg)) { return; }
  if (lid < KEY_LANES) {
    for (var i = 0u; i < CELLS_EACH; i++) { (*keys).cells[i] = fresh_cell(min(i * KEY_LANES + lid, CELLS - 1u)); }
    (*keys).key_scale = fresh_scale(0u);
    (*keys).value_scale = fresh_scale(1u);
  }
  if (lid < V_LANES) {
    for (var e = 0u; e < OCTS_EACH; e++) { (*values)[e] = fresh_oct(1u, min(e * V_LANES + lid, OCTS - 1u)); }
  }
}

// The split's own key moves the others up by one: key i is row i - 1 of the cache. The row in front of the first is
// read in vain.
fn span_of(layer: u32) -> Span {
  let moved = select(0u, 1u, has_own_key(wg));
  let cell = layer * (LAYER_OCTS * 8u / CELL_DIMS) + (head_row() - moved) * CELLS;
  let oct = layer * LAYER_OCTS + (head_row() - moved) * OCTS;
  return Span(split_begin(wg), split_end(wg), split_newest(wg) + moved, cell, oct, scale_row(layer) - moved);
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
    let key = place_of(group) + 1u;
    if (lid < CELLS) { k_cache[span.cell + key * CELLS + lid] = fresh_cell(lid); }
    if (lid < OCTS) { v_cache[span.oct + key * OCTS + lid] = fresh_oct(1u, lid); }
    if (lid == 0u) { store_scales(span.row + key); }
  }
  let work = Work(PARTS_AT + group * PART_WORDS, tag, is_busy(group));
  load_q(work, lid);
  attend_span(work, span, first_keys, first_values, lid);
}
