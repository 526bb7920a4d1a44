// m, l and o of HEADS query heads that share one KV head, over a range of keys, with no barrier among tiles: each
// SUBGROUP lanes take tiles of TILE keys in turns and keep a state of their own; all are merged once, at the end. Four
// heads travel in one vec4 (columns). In a tile
//   scores   KEY_LANES lanes share a key, and each gets all its scores (see lane_keys_*)
//   values   a lane is OCTS_EACH octs of columns of V_KEYS keys; p comes from the lane that made it
// The keys of the next tile are on their way while values are added, and its values while it is scored. o is rescaled
// only where a score rises above m.
// The kernel binds k_cache: array<KvCell> and v_cache: array<KvOct>, and defines
//   q_at(work, h, d)        dimension d of the h-th four heads, scaled; 0 past the end of either
//   complete(...)           where OWN_KEY: puts a key in its place that the cache does not have yet
//   settled(m)              m as it is left
//   leave(work, h, m, l), emit(work, h, d, o, l)    what becomes of four heads; o is not yet divided by l
//   put_column(i, x), column_at(i)                  workgroup memory of WORKGROUP Heads
// Constants: HEAD_DIM, HEADS, WORKGROUP; SUBGROUP, lanes of the smallest subgroup; KEY_LANES, CELLS_EACH (cells of a
// key that a lane has), V_LANES (lanes that share a value).
// Libraries: columns, kv_*, kv_scales_*, lane_keys_*, online_softmax, softcap, window or window_none.
const OCTS = HEAD_DIM / 8;
const CELLS = HEAD_DIM / CELL_DIMS;
const OCTS_EACH = (OCTS + V_LANES - 1) / V_LANES;
const TILE = SUBGROUP / KEY_LANES;
const SLICES = SUBGROUP / V_LANES;           // keys whose values a subgroup adds at once
const V_KEYS = TILE / SLICES;
const SUBGROUPS = WORKGROUP / SUBGROUP;
const KEPT = 8 / min(SLICES, 8);             // columns of an oct whose sums over the slices a lane ends with
const SHARES = select(1u, 4u, SUBGROUPS % 4 == 0 && SUBGROUP >= 4); // lanes that add up a column over the subgroups

alias Output = array<Columns, HEAD_QUADS * OCTS_EACH>;

// Keys `begin` to `end`; those past `last` are not read. `cell`, `oct` and `row`: where key 0 begins in k_cache, in
// v_cache, and among the scales.
struct Span { begin: u32, end: u32, last: u32, cell: u32, oct: u32, row: u32 }

// A lane's share of a tile: its part of a key with the scales of key and value, and octs of values.
struct Keys { cells: array<KvCell, CELLS_EACH>, key_scale: f32, value_scale: f32 }
alias Values = array<KvOct, V_KEYS * OCTS_EACH>;

struct SoftmaxHeads { m: Heads, l: Heads }
var<workgroup> states: array<SoftmaxHeads, HEAD_QUADS * SUBGROUPS>;

// The first key of a subgroup's first tile.
fn first_key(span: Span, lid: u32) -> u32 { return span.begin + lid / SUBGROUP * TILE; }

fn load_keys(span: Span, start: u32, lane: u32) -> Keys {
  let key = slot_of(min(start + lane / KEY_LANES, span.last));
  var keys: Keys;
  for (var i = 0u; i < CELLS_EACH; i++) {
    keys.cells[i] = k_cache[span.cell + key * CELLS + min(i * KEY_LANES + lane % KEY_LANES, CELLS - 1)];
  }
  keys.key_scale = key_scale(span.row + key);
  keys.value_scale = value_scale(span.row + key);
  return keys;
}

fn load_values(span: Span, start: u32, lane: u32) -> Values {
  var values: Values;
  for (var i = 0u; i < V_KEYS; i++) {
    let row = span.oct + slot_of(min(start + i * SLICES + lane / V_LANES, span.last)) * OCTS;
    for (var e = 0u; e < OCTS_EACH; e++) { values[i * OCTS_EACH + e] = v_cache[row + min(e * V_LANES + lane % V_LANES, OCTS - 1)]; }
  }
  return values;
}

// Attends to the keys of a span. `keys` and `values` are those of each subgroup's first tile.
fn attend_span(work: Work, span: Span, first_keys: Keys, first_values: Values, lid: u32) {
  let lane = lid % SUBGROUP;
  let lane0 = subgroupExclusiveAdd(1u) - lane; // subgroups may be larger than SUBGROUP
  var m: Scores;
  for (var h = 0u; h < HEAD_QUADS; h++) { m[h] = Heads(M_START); }
  var l: Scores; // of this lane's keys
  var o: Output;
  var keys = first_keys;
  var values = first_values;
  for (var start = first_key(span, lid); start < span.end; start += SUBGROUPS * TILE) {
    if (OWN_KEY) { complete(&keys, &values, span, start, lane); }
    let next = start + SUBGROUPS * TILE;
    var s = scores_of(keys, lane);
    let v_scale = keys.value_scale;
    keys = load_keys(span, next, lane);
    var rises = false;
    for (var h = 0u; h < HEAD_QUADS; h++) {
      s[h] = select(Heads(MASKED), softcap4(s[h]), start + lane / KEY_LANES < span.end);
      rises = rises || any(s[h] > m[h]);
    }
    if (subgroupAny(rises)) { raise(&m, &l, &o, s); }
    for (var h = 0u; h < HEAD_QUADS; h++) {
      s[h] = softmax_p4(s[h], m[h]);
      l[h] += s[h];
      if (KV_SCALED) { s[h] *= v_scale; }
    }
    for (var i = 0u; i < V_KEYS; i++) {
      for (var h = 0u; h < HEAD_QUADS; h++) {
        let p = subgroupShuffle(s[h], lane0 + (i * SLICES + lane / V_LANES) * KEY_LANES);
        for (var e = 0u; e < OCTS_EACH; e++) {
          o[h * OCTS_EACH + e] = plus(o[h * OCTS_EACH + e], p, kv_oct(values[i * OCTS_EACH + e]));
        }
      }
    }
    values = load_values(span, next, lane);
  }
  finish(work, &m, &l, &o, lid);
}

// m of a subgroup to the largest of these scores.
fn raise(m: ptr<function, Scores>, l: ptr<function, Scores>, o: ptr<function, Output>, s: Scores) {
  for (var h = 0u; h < HEAD_QUADS; h++) {
    let m_new = max((*m)[h], subgroupMax(s[h]));
    let alpha = softmax_p4((*m)[h], m_new);
    (*m)[h] = m_new;
    (*l)[h] *= alpha;
    for (var e = 0u; e < OCTS_EACH; e++) { (*o)[h * OCTS_EACH + e] = scaled((*o)[h * OCTS_EACH + e], alpha); }
  }
}

// The sum over the lanes of a subgroup that are `stride`, 2 stride, 4 stride ... apart.
fn sum_lanes(x: Heads, stride: u32) -> Heads {
  var sum = x;
  for (var apart = stride; apart < SUBGROUP; apart *= 2) { sum += subgroupShuffleXor(sum, apart); }
  return sum;
}

// What a lane keeps of a pair of columns, and its partner's share of that.
fn trade(low: Heads, high: Heads, lane: u32, apart: u32) -> Heads {
  let up = (lane & apart) != 0;
  return select(low, high, up) + subgroupShuffleXor(select(high, low, up), apart);
}

// Adds up columns over the slices: each trade halves the columns that a lane keeps, as long as there are two.
fn fold(columns: Columns, lane: u32) -> Columns {
  var c = columns;
  if (SLICES > 1) {
    c.c0 = trade(c.c0, c.c4, lane, V_LANES);
    c.c1 = trade(c.c1, c.c5, lane, V_LANES);
    c.c2 = trade(c.c2, c.c6, lane, V_LANES);
    c.c3 = trade(c.c3, c.c7, lane, V_LANES);
  }
  if (SLICES > 2) {
    c.c0 = trade(c.c0, c.c2, lane, 2 * V_LANES);
    c.c1 = trade(c.c1, c.c3, lane, 2 * V_LANES);
  }
  if (SLICES > 4) { c.c0 = trade(c.c0, c.c1, lane, 4 * V_LANES); }
  for (var apart = 8 * V_LANES; apart < SUBGROUP; apart *= 2) { c.c0 += subgroupShuffleXor(c.c0, apart); }
  return c;
}

// The first of the columns that fold leaves in a lane.
fn first_column(lane: u32) -> u32 {
  let slice = lane / V_LANES;
  var column = 0u;
  if (SLICES > 1) { column += slice % 2 * 4; }
  if (SLICES > 2) { column += slice / 2 % 2 * 2; }
  if (SLICES > 4) { column += slice / 4 % 2; }
  return column;
}

fn column_of(c: Columns, i: u32) -> Heads {
  let low = select(select(c.c0, c.c1, i % 2 == 1), select(c.c2, c.c3, i % 2 == 1), i % 4 >= 2);
  return select(low, select(select(c.c4, c.c5, i % 2 == 1), select(c.c6, c.c7, i % 2 == 1), i % 4 >= 2), i >= 4);
}

// Brings the states of all subgroups under one m, adds up l over lanes and o over slices and subgroups, and emits.
fn finish(work: Work, m: ptr<function, Scores>, l: ptr<function, Scores>, o: ptr<function, Output>, lid: u32) {
  let lane = lid % SUBGROUP;
  let subgroup = lid / SUBGROUP;
  for (var h = 0u; h < HEAD_QUADS; h++) {
    let sum = sum_lanes((*l)[h], KEY_LANES);
    if (lane == 0) { states[h * SUBGROUPS + subgroup] = SoftmaxHeads((*m)[h], sum); }
  }
  workgroupBarrier();
  for (var h = 0u; h < HEAD_QUADS; h++) {
    var most = (*m)[h];
    for (var s = 0u; s < SUBGROUPS; s++) { most = max(most, states[h * SUBGROUPS + s].m); }
    most = settled(most);
    let alpha = softmax_p4((*m)[h], most);
    (*m)[h] = most;
    if (lane == 0) { states[h * SUBGROUPS + subgroup].l *= alpha; }
    for (var e = 0u; e < OCTS_EACH; e++) {
      let columns = fold(scaled((*o)[h * OCTS_EACH + e], alpha), lane);
      for (var i = 0u; i < KEPT; i++) {
        put_column(lid, column_of(columns, i));
        workgroupBarrier();
        if (e == 0 && i == 0 && lid == 0) { leave(work, h, most, sum_l(h)); }
        emit_column(work, h, e, i, lid);
        workgroupBarrier();
      }
    }
  }
}

fn sum_l(h: u32) -> Heads {
  var sum = Heads(0.0);
  for (var s = 0u; s < SUBGROUPS; s++) { sum += states[h * SUBGROUPS + s].l; }
  return sum;
}

// Adds up the i-th column of each lane over the subgroups, SHARES lanes each.
fn emit_column(work: Work, h: u32, e: u32, i: u32, lid: u32) {
  if (lid >= SUBGROUP * SHARES) { return; }
  let lane = lid / SHARES;
  var sum = Heads(0.0);
  for (var s = lid % SHARES; s < SUBGROUPS; s += SHARES) { sum += column_at(s * SUBGROUP + lane); }
  for (var apart = 1u; apart < SHARES; apart *= 2) { sum += subgroupShuffleXor(sum, apart); }
  let oct = e * V_LANES + lane % V_LANES;
  if (lid % SHARES == 0 && oct < OCTS && lane / V_LANES < 8) { emit(work, h, 8 * oct + first_column(lane) + i, sum, sum_l(h)); }
}
