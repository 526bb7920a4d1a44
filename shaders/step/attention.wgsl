// Attention of one split of the keys for the query heads of one KV head. The rows of q, k and v come as the product
// left them: they are normalized where QK_NORM, and turned, here. K_LANES threads share a key; keys come in tiles of
// TILE, and the next tile is on its way while one is worked on. The last split has the step's own key, and writes it
// and its value to the cache.
// Constants: N_KV_HEADS, GROUP, DIM, CONTEXT, Q_SCALE, QK_NORM, QK_EPS, SPLITS, K_LANES, LAYER_OCTS.
// Libraries: kv_*, kept_*, online_softmax. src/kernels/step writes take_heads and put_scores.
const OCTS = DIM / 8u;
const LANE_OCTS = OCTS / K_LANES;         // octs of a key that a thread has
const TILE = THREADS / K_LANES;
const GROUP_QUADS = GROUP * DIM / 4u;
const SLICES = THREADS / GROUP_QUADS;     // threads that share a quad of o
const HEAD_WORDS = (GROUP + 2u) * DIM;
const PART_WORDS = GROUP * DIM + 2u * GROUP;

var<workgroup> heads: array<f32, HEAD_WORDS>;              // q of the group, k and v as they come
var<workgroup> q_heads: array<vec4<f32>, GROUP_QUADS>;     // turned and scaled
var<workgroup> head_rstd: array<f32, GROUP + 1u>;
var<workgroup> scores: array<f32, GROUP * TILE>;           // then p
var<workgroup> state: array<vec3<f32>, GROUP>;             // m, l, alpha

// x_words is free during attention: it has the values of a tile, then o of the slices.

fn put_o(o: vec4<f32>) {
  x_words[2u * lid] = bitcast<vec2<u32>>(o.xy);
  x_words[2u * lid + 1u] = bitcast<vec2<u32>>(o.zw);
}
fn o_at(i: u32) -> vec4<f32> { return vec4(bitcast<vec2<f32>>(x_words[2u * i]), bitcast<vec2<f32>>(x_words[2u * i + 1u])); }

// Every layer keeps all keys.
fn kv_room() -> u32 { return CONTEXT; }

fn kv_head_of() -> u32 { return min(wg / SPLITS, N_KV_HEADS - 1u); }

// The word of value i of take_heads.
fn head_word(i: u32) -> u32 {
  let kv_head = kv_head_of();
  if (i < GROUP * DIM) { return QKV_AT + kv_head * GROUP * DIM + i; }
  let key_value = i - GROUP * DIM;
  return QKV_AT + (N_KV_HEADS * GROUP + kv_head) * DIM + key_value + select(0u, (N_KV_HEADS - 1u) * DIM, key_value >= DIM);
}

fn put_head(i: u32, payload: u32) { heads[i] = from24(payload); }

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
fn angle_of(i: u32) -> vec2<f32> { return rope[step.position * (DIM / 2u) + i % (DIM / 2u)]; }

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
    let at = (head * DIM + d) / 4u;
    q_heads[at][d % 4u] = y.x * Q_SCALE;
    q_heads[at][d % 4u + 1u] = y.y * Q_SCALE;
  } else {
    put_fresh(i - GROUP * (DIM / 2u), y);
  }
}

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

fn cache_at(layer: u32) -> u32 { return layer * LAYER_OCTS + kv_head_of() * CONTEXT * OCTS; }
fn split_begin() -> u32 { return min(wg % SPLITS * ((step.position + SPLITS - 1u) / SPLITS), step.position); }

// The last key of the split in the cache, or the first where it has none.
fn split_newest() -> u32 {
  return max(min(split_begin() + (step.position + SPLITS - 1u) / SPLITS, step.position), 1u) - 1u;
}

// Issues the loads of the first tile.
fn load_tile(layer: u32) {
  let key = min(split_begin() + lid / K_LANES, split_newest());
  first_k = load_keys(cache_at(layer), key);
  first_v = load_values(cache_at(layer), key);
}

fn attend(group: u32, layer: u32, tag: u32) {
  if (APART) { load_tile(layer); }
  let split = group % SPLITS;
  let busy = group < N_KV_HEADS * SPLITS;
  let span = (step.position + SPLITS - 1u) / SPLITS;
  let begin = min(split * span, step.position);
  let last = split == SPLITS - 1u;
  let past = min(begin + span, step.position);                    // end of the keys in the cache
  let end = select(begin, past + select(0u, 1u, last), busy);
  let first = cache_at(layer);
  let newest = split_newest();
  let key = lid / K_LANES;
  var k = first_k;
  var v = first_v;
  let angle = angle_of(lid);
  let norms = layer * LAYER_PARAMS + 2u * HIDDEN;
  take_heads(tag);
  if (QK_NORM) { find_head_rstd(); }
  workgroupBarrier();
  for (var i = lid; i < HEAD_WORDS / 2u; i += THREADS) {
    if (i < THREADS) { turn(i, angle, norms); } else { turn(i, angle_of(i), norms); }
  }
  if (lid < GROUP) { state[lid] = vec3(M_START, 0.0, 0.0); }
  workgroupBarrier();
  finish_fresh();
  if (last && busy && lid < 2u * OCTS) {
    let at = first + step.position * OCTS + lid % OCTS;
    if (lid < OCTS) { k_cache[at] = fresh_oct(0u, lid); } else { v_cache[at] = fresh_oct(1u, lid - OCTS); }
    store_scales(first);
  }
  let quad = lid % GROUP_QUADS;
  let slice = lid / GROUP_QUADS;
  let head = quad / (DIM / 4u);
  var o = vec4(0.0);
  for (var start = begin; start < end; start += TILE) {
    if (start + key == step.position) {
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
  if (busy && lid < GROUP_QUADS) {
    for (var s = 1u; s < SLICES; s++) { o += o_at(s * GROUP_QUADS + lid); }
    for (var i = 0u; i < 4u; i++) { publish(part + 4u * lid + i, float24(o[i]), tag); }
  }
  if (busy && lid < GROUP) {
    publish(part + GROUP * DIM + 2u * lid, float24(state[lid].x), tag);
    publish(part + GROUP * DIM + 2u * lid + 1u, float24(state[lid].y), tag);
  }
}
