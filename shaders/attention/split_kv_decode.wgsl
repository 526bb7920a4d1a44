// o[t, h, :] = sum_j softmax_j(q[t, h, :] . k[j, :] / sqrt(HEAD_DIM)) v[j, :], over j <= step.position + t, in two passes:
//   main    each workgroup attends to one split of the keys and leaves its m, l and o
//   merge   o = sum_s alpha_s o_s / sum_s alpha_s l_s, with alpha_s = p of m_s under the largest m
// (Flash-Decoding, Dao et al. 2023.) A pass of n tokens has n times the workgroups, so it splits the keys into n times fewer.
// Constants: those of lib/decode_tiles; MAX_SPLITS; MERGE_COLUMNS and MERGE_SLICES, the two sides of a merging workgroup.
@group(0) @binding(3) var<storage, read_write> out: array<f32>;              // (n_tokens, N_HEADS, HEAD_DIM)
@group(0) @binding(4) var<storage, read_write> part_o: array<Heads>;         // (n_tokens, KV_QUADS, splits, HEAD_DIM)
@group(0) @binding(5) var<storage, read_write> part_ml: array<State>;        // (n_tokens, KV_QUADS, splits)
@group(0) @binding(6) var<uniform> splits_of_token: u32;                     // where the pass has one token; at most MAX_SPLITS

struct State { m: Heads, l: Heads }
const KV_QUADS = N_KV_HEADS * HEAD_SLICES * HEAD_QUADS; // quads of query heads that share a KV head

fn n_splits() -> u32 { return max(splits_of_token / step.n_tokens, 1u); }

// One workgroup: one KV head (x), one split (y), one token and HEADS query heads of the group (z).
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token = wid.z / HEAD_SLICES;
  let n_keys = step.position + token + 1;
  let span = (n_keys + n_splits() - 1) / n_splits();
  let begin = min(wid.y * span, n_keys); // with more splits than keys some are empty: m = M_START, l = 0, o = 0
  attend(Work(wid.x, token, wid.z % HEAD_SLICES, wid.y, begin, min(begin + span, n_keys)), lid);
}

fn leave(work: Work, h: u32, m: Heads, l: Heads) { part_ml[part(work, h)] = State(m, l); }

fn emit(work: Work, h: u32, d: u32, o: Heads, l: Heads) { part_o[part(work, h) * HEAD_DIM + d] = o; }

fn part(work: Work, h: u32) -> u32 {
  let quad = (work.token * N_KV_HEADS + work.kv_head) * HEAD_SLICES + work.head_slice;
  return (quad * HEAD_QUADS + h) * n_splits() + work.split;
}

var<workgroup> slice_ml: array<State, MERGE_SLICES>;
var<workgroup> slice_o: array<Heads, MERGE_COLUMNS * MERGE_SLICES>;

// One workgroup: one quad of query heads (x), MERGE_COLUMNS columns (y), one token (z). A thread is a column and one of
// MERGE_SLICES subsets of the splits.
@compute @workgroup_size(MERGE_COLUMNS * MERGE_SLICES)
fn merge(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let d = min(wid.y * MERGE_COLUMNS + lid % MERGE_COLUMNS, HEAD_DIM - 1);
  let quad = wid.z * KV_QUADS + wid.x;
  let slice = lid / MERGE_COLUMNS;
  var state = State(Heads(M_START), Heads(0.0));
  var o = Heads(0.0);
  for (var s = slice; s < n_splits(); s += 4 * MERGE_SLICES) { // four at a time, by name: see decode_tiles
    let part0 = part_at(quad, s);
    let part1 = part_at(quad, s + MERGE_SLICES);
    let part2 = part_at(quad, s + 2 * MERGE_SLICES);
    let part3 = part_at(quad, s + 3 * MERGE_SLICES);
    let o0 = o_at(quad, s, d);
    let o1 = o_at(quad, s + MERGE_SLICES, d);
    let o2 = o_at(quad, s + 2 * MERGE_SLICES, d);
    let o3 = o_at(quad, s + 3 * MERGE_SLICES, d);
    let m = max(state.m, max(max(part0.m, part1.m), max(part2.m, part3.m)));
    let alpha = softmax_p4(state.m, m);
    let alpha0 = softmax_p4(part0.m, m);
    let alpha1 = softmax_p4(part1.m, m);
    let alpha2 = softmax_p4(part2.m, m);
    let alpha3 = softmax_p4(part3.m, m);
    o = alpha * o + alpha0 * o0 + alpha1 * o1 + alpha2 * o2 + alpha3 * o3;
    state = State(m, alpha * state.l + alpha0 * part0.l + alpha1 * part1.l + alpha2 * part2.l + alpha3 * part3.l);
  }
  if (lid % MERGE_COLUMNS == 0) { slice_ml[slice] = state; }
  slice_o[lid] = o;
  workgroupBarrier();
  if (lid < MERGE_COLUMNS && wid.y * MERGE_COLUMNS + lid < HEAD_DIM) {
    var m = Heads(M_START);
    for (var i = 0u; i < MERGE_SLICES; i++) { m = max(m, slice_ml[i].m); }
    var l = Heads(0.0);
    o = Heads(0.0);
    for (var i = 0u; i < MERGE_SLICES; i++) {
      let alpha = softmax_p4(slice_ml[i].m, m);
      l += alpha * slice_ml[i].l;
      o += alpha * slice_o[i * MERGE_COLUMNS + lid];
    }
    write_heads(wid.z, wid.x, d, o / l);
  }
}

// Past the last split: a state that weighs nothing, and the last o.
fn part_at(quad: u32, split: u32) -> State {
  if (split < n_splits()) { return part_ml[quad * n_splits() + split]; }
  return State(Heads(MASKED), Heads(0.0));
}
fn o_at(quad: u32, split: u32, d: u32) -> Heads { return part_o[(quad * n_splits() + min(split, n_splits() - 1)) * HEAD_DIM + d]; }

fn write_heads(token: u32, quad: u32, d: u32, o: Heads) {
  let work = Work(quad / (HEAD_SLICES * HEAD_QUADS), token, quad / HEAD_QUADS % HEAD_SLICES, 0, 0, 0);
  for (var j = 0u; j < 4; j++) {
    let h = quad % HEAD_QUADS * 4 + j;
    if (is_live(work, h)) { out[(work.token * N_HEADS + query_head(work, h)) * HEAD_DIM + d] = o[j]; }
  }
}
