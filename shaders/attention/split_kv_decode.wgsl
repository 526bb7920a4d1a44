// o[t, h, :] = sum_j softmax_j(q[t, h, :] . k[j, :] / sqrt(HEAD_DIM)) v[j, :], over j <= step.position + t, in two passes:
//   main    each workgroup attends to one split of the keys and leaves its m, l and o
//   merge   o = sum_s alpha_s o_s / sum_s alpha_s l_s, with alpha_s = p of m_s under the largest m
// (Flash-Decoding, Dao et al. 2023.) A pass of n tokens has n times the workgroups, so it splits the keys into n times fewer.
// Constants: those of lib/decode_tiles; MAX_SPLITS; MERGE_WORKGROUP (at least QUADS).
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;        // (n_tokens, N_HEADS, QUADS)
@group(0) @binding(4) var<storage, read_write> part_o: array<vec4<f32>>;     // (n_tokens, splits, N_HEADS, QUADS)
@group(0) @binding(5) var<storage, read_write> part_ml: array<SoftmaxState>; // (n_tokens, splits, N_HEADS)
@group(0) @binding(6) var<uniform> splits_of_token: u32;                     // where the pass has one token; at most MAX_SPLITS

fn n_splits() -> u32 { return max(splits_of_token / step.n_tokens, 1u); }

// One workgroup: one KV head (x), one split (y), one token and HEADS query heads of the group (z).
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token = wid.z / HEAD_SLICES;
  let n_keys = step.position + token + 1;
  let span = (n_keys + n_splits() - 1) / n_splits();
  let begin = min(wid.y * span, n_keys); // with more splits than keys some are empty: m = M_START, l = 0, o = 0
  let work = Work(wid.x, token, wid.z % HEAD_SLICES, wid.y, begin, min(begin + span, n_keys));
  attend(work, lid);
  if (lid < live_heads(work)) { part_ml[first_part(work) + lid] = SoftmaxState(head_m[lid], head_l[lid]); }
}

fn emit(work: Work, i: u32, o: vec4<f32>) { part_o[first_part(work) * QUADS + i] = o; }

// Where the workgroup's first query head is among the parts.
fn first_part(work: Work) -> u32 {
  return (work.token * n_splits() + work.split) * N_HEADS + work.kv_head * GQA_GROUP + work.head_slice * HEADS;
}

const MERGE_SLICES = MERGE_WORKGROUP / QUADS;

var<workgroup> parts: array<SoftmaxState, MAX_SPLITS>;
var<workgroup> alphas: array<f32, MAX_SPLITS>;
var<workgroup> slices: array<vec4<f32>, MERGE_WORKGROUP>;

// One workgroup: one query head (x) of one token (y). A thread is a quad of columns and one of MERGE_SLICES subsets of the splits.
@compute @workgroup_size(MERGE_WORKGROUP)
fn merge(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let first = wid.y * n_splits() * N_HEADS + wid.x;
  for (var s = lid; s < n_splits(); s += MERGE_WORKGROUP) { parts[s] = part_ml[first + s * N_HEADS]; }
  workgroupBarrier();
  var m = M_START;
  for (var s = 0u; s < n_splits(); s++) { m = max(m, parts[s].m); }
  for (var s = lid; s < n_splits(); s += MERGE_WORKGROUP) { alphas[s] = softmax_p(parts[s].m, m); }
  workgroupBarrier();
  var o = vec4(0.0);
  if (lid < MERGE_SLICES * QUADS) {
    for (var s = lid / QUADS; s < n_splits(); s += MERGE_SLICES) {
      o += alphas[s] * part_o[(first + s * N_HEADS) * QUADS + lid % QUADS];
    }
  }
  slices[lid] = o;
  workgroupBarrier();
  if (lid < QUADS) {
    for (var slice = 1u; slice < MERGE_SLICES; slice++) { o += slices[slice * QUADS + lid]; }
    var l = 0.0;
    for (var s = 0u; s < n_splits(); s++) { l += alphas[s] * parts[s].l; }
    out[(wid.y * N_HEADS + wid.x) * QUADS + lid] = o / l;
  }
}
