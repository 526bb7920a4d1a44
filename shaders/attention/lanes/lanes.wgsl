// m, l and o of HEADS query heads that share one KV head, over a range of keys, with no barrier among tiles: each
// SUBGROUP lanes take tiles of TILE keys in turns and keep a state of their own; all are merged once, at the end. Four
// heads travel in one vec4 (columns). In a tile
//   scores   KEY_LANES lanes share a key, and each gets all its scores (see lane_keys_*)
//   values   a lane is OCTS_EACH octs of columns of V_KEYS keys; p comes from the lane that made it
// The next tile is on its way while one is worked on. o is rescaled only where a score rises well above m.
// The kernel binds k_cache: array<KvCell> and v_cache: array<KvOct>, and defines
//   q_quad(work, head, quad)   four dimensions of a head, scaled; 0 past the last head or dimension
//   complete(...)           where OWN_KEY: puts a key in its place among those of the first tile
//   settled(m)              m as it is left
//   leave(work, h, m, l), emit(work, h, d, o, l)    what becomes of four heads; o is not yet divided by l
//   put_column(i, x), column_at(i)                  workgroup memory of WORKGROUP Heads
// src/shared/lanes.ts writes raise, add_values and finish, since arrays that loops index may land in memory.
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

// Four dimensions of the h-th four heads, the heads side by side.
fn q_quads(work: Work, h: u32, quad: u32) -> mat4x4<f32> {
  return transpose(mat4x4(
    q_quad(work, 4 * h, quad), q_quad(work, 4 * h + 1, quad), q_quad(work, 4 * h + 2, quad), q_quad(work, 4 * h + 3, quad),
  ));
}

// A score that rises above m by less than this leaves m as it is: p stays below 2^RISE.
const RISE = 8.0;
const MOST_TRIPS = 0x1000000u;    // a constant bound: a loop without one gets a counter of its own

// Attends to the keys of a span. `keys` and `values` are those of each subgroup's first tile.
fn attend_span(work: Work, span: Span, first_keys: Keys, first_values: Values, lid: u32) {
  let lane = lid % SUBGROUP;
  let lane0 = subgroupExclusiveAdd(1u) - lane; // subgroups may be larger than SUBGROUP
  let source = lane0 + lane / V_LANES * KEY_LANES; // the lane with p of this lane's first value
  var m: Scores;
  for (var h = 0u; h < HEAD_QUADS; h++) { m[h] = Heads(M_START); }
  var l: Scores; // of this lane's keys
  var o: Output;
  var keys = first_keys;
  var values = first_values;
  if (OWN_KEY) { complete(&keys, &values, lid); }
  var start = first_key(span, lid);
  for (var trip = 0u; trip < MOST_TRIPS; trip++) {
    if (start >= span.end) { break; }
    let next = start + SUBGROUPS * TILE;
    let next_keys = load_keys(span, next, lane);
    let next_values = load_values(span, next, lane);
    var s = scores_of(keys, lane);
    var rises = false;
    for (var h = 0u; h < HEAD_QUADS; h++) {
      s[h] = select(Heads(MASKED), softcap4(s[h]), start + lane / KEY_LANES < span.end);
      rises = rises || any(s[h] > m[h] + RISE);
    }
    if (subgroupAny(rises)) { raise(&m, &l, &o, s); }
    for (var h = 0u; h < HEAD_QUADS; h++) {
      s[h] = softmax_p4(s[h], m[h]);
      l[h] += s[h];
      if (KV_SCALED) { s[h] *= keys.value_scale; }
    }
    add_values(&o, s, &values, source);
    keys = next_keys;
    values = next_values;
    start = next;
  }
  finish(work, &m, &l, &o, lid);
}

// m of four heads, raised to the largest of these scores of a subgroup.
fn raised(m: Heads, s: Heads) -> Heads {
  var most = max(m, s);
  if (SUBGROUP > 1) { most = max(most, subgroupShuffleXor(most, 1u)); }
  if (SUBGROUP > 2) { most = max(most, subgroupShuffleXor(most, 2u)); }
  if (SUBGROUP > 4) { most = max(most, subgroupShuffleXor(most, 4u)); }
  if (SUBGROUP > 8) { most = max(most, subgroupShuffleXor(most, 8u)); }
  if (SUBGROUP > 16) { most = max(most, subgroupShuffleXor(most, 16u)); }
  if (SUBGROUP > 32) { most = max(most, subgroupShuffleXor(most, 32u)); }
  if (SUBGROUP > 64) { most = max(most, subgroupShuffleXor(most, 64u)); }
  return most;
}

// The sum over the lanes that share a key.
fn over_key(x: Heads) -> Heads {
  var sum = x;
  if (KEY_LANES > 1) { sum += subgroupShuffleXor(sum, 1u); }
  if (KEY_LANES > 2) { sum += subgroupShuffleXor(sum, 2u); }
  if (KEY_LANES > 4) { sum += subgroupShuffleXor(sum, 4u); }
  if (KEY_LANES > 8) { sum += subgroupShuffleXor(sum, 8u); }
  if (KEY_LANES > 16) { sum += subgroupShuffleXor(sum, 16u); }
  return sum;
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

// Adds up l over lanes, for all subgroups to see.
fn leave_state(m: Heads, l: Heads, h: u32, lid: u32) {
  let sum = sum_lanes(l, KEY_LANES);
  if (lid % SUBGROUP == 0) { states[h * SUBGROUPS + lid / SUBGROUP] = SoftmaxHeads(m, sum); }
}

// The m of all subgroups for four heads; l of this one comes under it.
fn common_m(m: Heads, h: u32, lid: u32) -> Heads {
  var most = m;
  for (var s = 0u; s < SUBGROUPS; s++) { most = max(most, states[h * SUBGROUPS + s].m); }
  most = settled(most);
  if (lid % SUBGROUP == 0) { states[h * SUBGROUPS + lid / SUBGROUP].l *= softmax_p4(m, most); }
  return most;
}

// Adds up an oct of o over slices and subgroups, and emits. `most` is the m of all.
fn finish_oct(work: Work, h: u32, e: u32, most: Heads, o: Columns, lid: u32) {
  let columns = fold(o, lid % SUBGROUP);
  for (var i = 0u; i < KEPT; i++) {
    put_column(lid, column_of(columns, i));
    workgroupBarrier();
    if (e == 0 && i == 0 && lid == 0) { leave(work, h, most, sum_l(h)); }
    emit_column(work, h, e, i, lid);
    workgroupBarrier();
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
