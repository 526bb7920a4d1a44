// o[t, h, :] = sum_j softmax_j(softcap(scale q[t, h, :] . k[j, :])) v[j, :]
// over first_seen(n) <= j < end_seen(n), n = position_of(t) + 1,
// in two passes:
//   main    each workgroup attends to one split of the keys and leaves its m, l and o
//   merge   o of all splits (merge_parts; Flash-Decoding, Dao et al. 2023)
// A pass of n tokens has n times the workgroups, so it splits the keys into n times fewer. In a batch that would make
// the sums of a token depend on its neighbors.
// Where splits are few, the output projection merges them on its way (x_parts), and there is no second pass.
// Constants: those of decode_tiles; MERGE_SLICES, subsets of the splits that a merging workgroup has.
// Libraries: merged_f32 or merged_q8, which bind out.
@group(0) @binding(4) var<storage, read_write> part_o: array<f32>;           // (n_tokens, N_HEADS, splits, HEAD_DIM)
@group(0) @binding(5) var<storage, read_write> part_ml: array<SoftmaxState>; // (n_tokens, N_HEADS, splits)
@group(0) @binding(6) var<uniform> splits_of_token: u32;  // where the pass has one token

fn n_splits() -> u32 {
  if (BATCHED) { return splits_of_token; }
  return max(splits_of_token / step.n_tokens, 1u);
}

// One workgroup: one KV head (x), one split (y), one token and HEADS query heads of the group (z).
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token = wid.z / HEAD_SLICES;
  let own = position_of(token) + 1;
  let n_keys = end_seen(own);
  let first = first_seen(own);
  let span = (n_keys - first + n_splits() - 1) / n_splits();
  let begin = min(first + wid.y * span, n_keys); // with more splits than keys some are empty: m = M_START, l = 0, o = 0
  attend(Work(wid.x, token, wid.z % HEAD_SLICES, wid.y, begin, min(begin + span, n_keys)), lid);
}

fn part(work: Work, h: u32) -> u32 { return (work.token * N_HEADS + query_head(work, h)) * n_splits() + work.split; }

fn leave(work: Work, h: u32, m: Heads, l: Heads) {
  for (var j = 0u; j < 4; j++) {
    if (is_live(work, 4 * h + j)) { part_ml[part(work, 4 * h + j)] = SoftmaxState(m[j], l[j]); }
  }
}

fn emit(work: Work, h: u32, d: u32, o: Heads, l: Heads) {
  for (var j = 0u; j < 4; j++) {
    if (is_live(work, 4 * h + j)) { part_o[part(work, 4 * h + j) * HEAD_DIM + d] = o[j]; }
  }
}

const QUADS = HEAD_DIM / 4;

var<workgroup> slice_ml: array<SoftmaxState, MERGE_SLICES>;
var<workgroup> slice_o: array<vec4<f32>, QUADS * MERGE_SLICES>;

// One workgroup: one query head (x), one token (y). A thread is a quad of columns and one of MERGE_SLICES subsets of
// the splits.
@compute @workgroup_size(QUADS * MERGE_SLICES)
fn merge(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let head = wid.y * N_HEADS + wid.x;
  let quad = lid % QUADS;
  let slice = lid / QUADS;
  let mine = merge_parts(head, quad, slice, MERGE_SLICES);
  if (quad == 0) { slice_ml[slice] = mine.state; }
  slice_o[lid] = mine.o;
  workgroupBarrier();
  var m = M_START;
  for (var i = 0u; i < MERGE_SLICES; i++) { m = max(m, slice_ml[i].m); }
  var l = 0.0;
  var o = vec4(0.0);
  for (var i = 0u; i < MERGE_SLICES; i++) {
    let alpha = softmax_p(slice_ml[i].m, m);
    l += alpha * slice_ml[i].l;
    o += alpha * slice_o[i * QUADS + quad];
  }
  put_merged(head, lid, o / l);
}

fn ml_at(head: u32, split: u32) -> SoftmaxState { return part_ml[head * n_splits() + split]; }

fn o_at(head: u32, split: u32, quad: u32) -> vec4<f32> {
  let at = (head * n_splits() + split) * HEAD_DIM + 4 * quad;
  return vec4(part_o[at], part_o[at + 1], part_o[at + 2], part_o[at + 3]);
}
