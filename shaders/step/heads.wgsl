// The rows of q, k and v of a KV head, as the product left them: normalized where QK_NORM, and turned. A KV head of a
// token has SPLITS workgroups, each of which attends to one split of the keys; the last has the token's own key, too,
// and writes it and its value to the cache.
// Constants: N_KV_HEADS, GROUP, DIM, CONTEXT, Q_SCALE, QK_NORM, QK_EPS, SPLITS.
// Libraries: kv_*, fresh_*. src/kernels/step writes take_heads.
const GROUP_QUADS = GROUP * DIM / 4u;
const HEAD_WORDS = (GROUP + 2u) * DIM;
const PART_WORDS = GROUP * DIM + 2u * GROUP;
const TOKEN_GROUPS = N_KV_HEADS * SPLITS;    // workgroups of a token

var<workgroup> heads: array<f32, HEAD_WORDS>;               // q of the group, k and v as they come
var<workgroup> q_heads: array<vec2<f32>, GROUP * DIM / 2u>; // pairs, turned and scaled
var<workgroup> head_rstd: array<f32, GROUP + 1u>;

// Every layer keeps all keys.
fn kv_room() -> u32 { return CONTEXT; }

// The token and the KV head of a workgroup; those without any wait with the last.
fn token_of(group: u32) -> u32 { return min(group / TOKEN_GROUPS, n_rows() - 1u); }
fn kv_head_of() -> u32 { return min(wg / SPLITS, n_rows() * N_KV_HEADS - 1u) % N_KV_HEADS; }

// The position of a workgroup's token. `group` is the workgroup: the private `wg` is not uniform, and barriers ask for
// that.
fn place_of(group: u32) -> u32 { return position_of(token_of(group)); }

// The first row of a workgroup's KV head in the cache of a layer.
fn head_row() -> u32 { return (kv_slot(token_of(wg)) * N_KV_HEADS + kv_head_of()) * CONTEXT; }

// The word of value i of take_heads.
fn head_word(i: u32) -> u32 {
  let kv_head = kv_head_of();
  let first = QKV_AT + token_of(wg) * N_ROWS;
  if (i < GROUP * DIM) { return first + kv_head * GROUP * DIM + i; }
  let key_value = i - GROUP * DIM;
  return first + (N_KV_HEADS * GROUP + kv_head) * DIM + key_value + select(0u, (N_KV_HEADS - 1u) * DIM, key_value >= DIM);
}

// The norms of q and k, whose weights are at `weight` of params: DIM of q, then DIM of k.
fn find_head_rstd() {
  workgroupBarrier();
  for (var head = lid / SUBGROUP; head < GROUP + 1u; head += THREADS / SUBGROUP) {
    var sum = 0.0;
    for (var i = lid % SUBGROUP; i < DIM; i += SUBGROUP) { sum = fma(heads[head * DIM + i], heads[head * DIM + i], sum); }
    sum = add_lanes(sum, SUBGROUP);
    if (lid % SUBGROUP == 0u) { head_rstd[head] = inverseSqrt(sum / f32(DIM) + QK_EPS); }
  }
}

// cos and sin of pair i.
fn angle_of(i: u32) -> vec2<f32> { return rope[place_of(wg) * (DIM / 2u) + i % (DIM / 2u)]; }

// Pair i of the group's q, then of k, then of v: turned, and put where it is read.
fn turn(i: u32, angle: vec2<f32>, weight: u32) {
  let head = i / (DIM / 2u);
  let d = i % (DIM / 2u) * 2u;
  var y = vec2(heads[2u * i], heads[2u * i + 1u]);
  if (head <= GROUP) {
    if (QK_NORM) {
      let first_value = weight + select(0u, DIM, head == GROUP) + d;
      y *= head_rstd[head] * vec2(params[first_value], params[first_value + 1u]);
    }
    y = vec2(y.x * angle.x - y.y * angle.y, y.x * angle.y + y.y * angle.x);
  }
  if (head < GROUP) {
    q_heads[i] = y * Q_SCALE;
  } else {
    put_fresh(i - GROUP * (DIM / 2u), y);
  }
}

// Keys of a split in the cache.
fn split_span(group: u32) -> u32 { return (place_of(group) + SPLITS - 1u) / SPLITS; }
fn split_begin(group: u32) -> u32 { return min(group % SPLITS * split_span(group), place_of(group)); }

// The last key of the split in the cache, or the first where it has none.
fn split_newest(group: u32) -> u32 { return max(min(split_begin(group) + split_span(group), place_of(group)), 1u) - 1u; }

fn is_busy(group: u32) -> bool { return group < n_rows() * TOKEN_GROUPS; }
fn has_own_key(group: u32) -> bool { return is_busy(group) && group % SPLITS == SPLITS - 1u; }

// The end of the keys of the split, the step's own among them.
fn split_end(group: u32) -> u32 {
  let begin = split_begin(group);
  return select(begin, min(begin + split_span(group), place_of(group)) + select(0u, 1u, has_own_key(group)), is_busy(group));
}

// Takes q, k and v of this workgroup's KV head.
fn take_turned(layer: u32, tag: u32) {
  let angle = angle_of(lid);
  let norms = layer * LAYER_PARAMS + 2u * HIDDEN;
  take_heads(tag);
  if (QK_NORM) { find_head_rstd(); }
  workgroupBarrier();
  for (var i = lid; i < HEAD_WORDS / 2u; i += THREADS) {
    if (i < THREADS) { turn(i, angle, norms); } else { turn(i, angle_of(i), norms); }
  }
  workgroupBarrier();
  finish_fresh();
}
