// tokens[token_at(t, 1)] = an id drawn from softmax(logits / temperature), after top-k, top-p and min-p. t: the last
// token of a pass, or each of a batch (y).
// One workgroup does it all, without a sort: each filter is a threshold on the logit, found by counting what lies
// above. maxima[g] is the largest key among the 32 logits of group g: only groups that can matter are read
// (candidates). Where a logit is NaN or +Infinity, or none is finite, or all are equal, the id is NO_TOKEN, which the
// loop tells as an error: a GPU that has stopped computing leaves zeros.
//
// A draw is Gumbel-max: the argmax of logit / temperature + g, where g depends on (id, position, seed) alone. Sums are
// sums of integers. So no order of threads changes the result. src/cpu/sample.ts is the same in plain words.
//
// Loads that wait for each other at 128,256 ids: greedy 2 (maxima, then 32 logits); top-k to 256 with whatever else 3
// (maxima twice, then some thousand logits); no filter but min-p 4 (maxima three times, then some hundred logits).
// Top-p alone reads all logits once, in 32 batches; what the list does not hold costs 32 batches for each of four
// digits.
// Workgroups behind the first, if any, write the parts of log softmax meanwhile: for nothing, on a GPU that one
// workgroup leaves idle.
// Rows of logits and maxima are padded to 16 bytes.
// Constants: VOCAB_SIZE. Libraries: sampling, asked or asked_batch, gumbel, logit_key, logprob_part, candidates,
// thresholds, draw.
@group(0) @binding(0) var<storage, read> logits: array<vec4u>;       // (rows, VOCAB_SIZE) bits of f32
@group(0) @binding(1) var<storage, read> maxima: array<vec4u>;       // (rows, ceil(VOCAB_SIZE / 32)) keys
@group(0) @binding(3) var<storage, read_write> tokens: array<u32>;   // the ids: see places
@group(0) @binding(4) var<storage, read> status: array<u32>;         // [0] is not 0 after a fused step that gave up
@group(0) @binding(5) var<storage, read_write> parts: array<vec2u>;  // (rows, ceil(VOCAB_SIZE / 1024)), of logprob_part

const THREADS = 256u;    // and the bins of one radix pass
const LIST_SIZE = 512u;
const NO_TOKEN = 0xffffffffu;    // both as in src/sampling/sampling.ts
const GAVE_UP = 0xfffffffeu;
const PARTS = (VOCAB_SIZE + 1023u) / 1024u;
// The list holds what is as large as the top_k-th of these, or 5/8 of them: all groups, else the best group of each
// thread.
const CONTENDERS = select(min(THREADS, MAXIMA_QUADS), GROUPS, GROUPS <= THREADS);

// The candidates: keys from `floor` on; where `listed` all of them are among the n of the list.
struct Kept { floor: u32, listed: bool, n: u32 }

var<workgroup> list: array<vec2u, LIST_SIZE>;    // (key, weight)
var<workgroup> list_id: array<u32, LIST_SIZE>;
var<workgroup> list_group: array<u32, LIST_SIZE>;
var<workgroup> bins: array<atomic<u32>, THREADS>;
var<workgroup> best: array<vec2u, THREADS>;      // (key, id)
var<workgroup> counter: array<atomic<u32>, 2>;
var<workgroup> agreed: vec2u;                    // what one thread tells all
var<workgroup> varied: atomic<u32>;              // not 0: some logit lies below the largest

var<private> tid: u32;
var<private> position: u32;
var<private> logits_row: u32;
var<private> top: vec2u;       // the largest key and its group
var<private> mine: vec2u;      // the best (key, group or id) that this thread met

fn key_at(id: u32) -> u32 {
  if (id < VOCAB_SIZE) { return key_of(logits[logits_row * LOGIT_QUADS + id / 4u][id % 4u]); }
  return 0u;
}

// log of the probability relative to the best, at most 0.
fn log_ratio(key: u32) -> f32 {
  return max((logit_of(key) - logit_of(top.x)) * sampling.inverse_temperature, -1e30);
}

// Probability relative to the best in fixed point; a unit of 0 counts instead.
fn weight(key: u32, unit: f32) -> u32 {
  if (unit == 0.0) { return 1u; }
  return u32(exp(log_ratio(key)) * unit + 0.5);
}

fn better(a: vec2u, b: vec2u) -> bool { return a.x > b.x || (a.x == b.x && a.y < b.y); }

// The best of all threads: 256 to 16 to 1.
fn reduce_best() -> vec2u {
  best[tid] = mine;
  workgroupBarrier();
  if (tid < 16u) { best[tid] = best_of(tid, 16u); }
  workgroupBarrier();
  if (tid == 0u) { agreed = best_of(0u, 1u); }
  return workgroupUniformLoad(&agreed);
}

fn best_of(first: u32, stride: u32) -> vec2u {
  var found = best[first];
  for (var i = 1u; i < 16u; i++) {
    let other = best[first + i * stride];
    if (better(other, found)) { found = other; }
  }
  return found;
}

fn reduce_sum(addend: vec2u) -> vec2u {
  if (tid < 2u) { atomicStore(&counter[tid], 0u); }
  workgroupBarrier();
  atomicAdd(&counter[0], addend.x);
  atomicAdd(&counter[1], addend.y);
  workgroupBarrier();
  if (tid == 0u) { agreed = vec2u(atomicLoad(&counter[0]), atomicLoad(&counter[1])); }
  return workgroupUniformLoad(&agreed);
}

// The lowest id of the top group with the top key.
fn greedy() -> u32 {
  if (tid == 0u) { atomicStore(&counter[0], 0xffffffffu); }
  workgroupBarrier();
  let id = 32u * top.y + tid;
  if (tid < 32u && key_at(id) == top.x) { atomicMin(&counter[0], id); }
  workgroupBarrier();
  return atomicLoad(&counter[0]);
}

// What top-k and top-p leave: keys from `floor` on. mine: this thread's best group.
fn filtered(asked: Sampling, use_k: bool, use_p: bool) -> Kept {
  var listed_from = 1u;
  if (VOCAB_SIZE > LIST_SIZE) {
    var key = mine.x;
    if (GROUPS <= THREADS) { key = maxima_quad(tid / 4u)[tid % 4u]; }
    list[tid] = vec2u(key, 1u);
    workgroupBarrier();
    let goal = select(CONTENDERS * 5u / 8u, min(asked.top_k, CONTENDERS), use_k);
    listed_from = max(1u, list_threshold(CONTENDERS, goal));
  }
  var n = list_groups(listed_from);    // each has a candidate
  if (n <= LIST_SIZE) { n = build_list(listed_from, n); }
  let fits = n <= LIST_SIZE;
  var listed = fits && listed_from == 1u;    // all logits that are left, where a constraint refused the others
  var floor = 1u;
  // Twice the same: first weighing each candidate 1 for top-k, then with its probability for top-p.
  for (var stage = 0u; stage < 2u; stage++) {
    let by_mass = stage == 1u;
    if ((by_mass && !use_p) || (!by_mass && !use_k)) { continue; }
    var unit = 0.0;        // such that all kept weigh 2^31 together, or a list at most that
    if (by_mass) {
      unit = 0x1p31f / f32(n);
      if (!listed) { unit = 0x1p31f / mass(floor); }
    }
    var in_list = 0u;
    if (fits) { in_list = weigh_list(n, floor, unit); }
    var goal = select(asked.top_k, min(asked.top_k, in_list), listed);
    if (by_mass) {
      let total = select(0x80000000u, in_list, listed);
      goal = clamp(u32(ceil(f32(total) * asked.top_p)), 1u, total);
    }
    listed = in_list >= goal;
    if (listed) {
      floor = max(floor, list_threshold(n, goal));
    } else {
      floor = max(floor, radix_threshold(floor, unit, goal));
    }
  }
  return Kept(floor, listed, n);
}

fn sample(asked: Sampling) -> u32 {
  let use_k = asked.top_k > 0u && asked.top_k < VOCAB_SIZE;
  let use_p = asked.top_p < 1.0;
  var kept = Kept(1u, false, 0u);
  if (use_k || use_p) { kept = filtered(asked, use_k, use_p); }
  return winner(kept);
}

// Notes whether any logit lies below the largest. The maxima tell nearly always; where those of a quad are the largest
// key, or it is the last, its logits do.
fn note_varied() {
  if (tid == 0u) { atomicStore(&varied, 0u); }
  workgroupBarrier();
  var differs = VOCAB_SIZE == 1u;
  for (var quad = tid; !differs && quad < MAXIMA_QUADS; quad += THREADS) {
    differs = 4u * quad + 3u < GROUPS && any(maxima_quad(quad) != vec4(top.x));
    let end = min(128u * quad + 128u, VOCAB_SIZE);
    for (var id = 128u * quad; !differs && id < end; id++) { differs = key_at(id) != top.x; }
  }
  if (differs) { atomicStore(&varied, 1u); }
}

fn write_part(index: u32) {
  let id = 4u * (THREADS * index + tid);
  let group = 32u * index + tid;
  var key = 0u;
  if (tid < 32u && group < GROUPS) { key = maxima_quad(group / 4u)[group % 4u]; }
  let part = part_of(tid, id, logit_quad(id), key);
  if (tid == 0u) { parts[logits_row * PARTS + index] = part; }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u, @builtin(workgroup_id) wid: vec3u) {
  tid = lid.x;
  logits_row = wid.y;
  if (wid.x > 0u) {
    write_part(wid.x - 1u);
    return;
  }
  let asked = asked_of(wid.y);
  let token = wid.y + select(step.n_tokens - 1u, 0u, BATCHED);
  position = position_of(token) + 1u;
  mine = vec2u(0u, 0u);
  scan_groups(BEST, 0u);
  let largest = reduce_best();
  top = largest;
  if (largest.y == 0u) { note_varied(); }    // where all are equal, the first group is the best
  var id = NO_TOKEN;
  if (largest.x > 0u && largest.x != NOT_FINITE) {
    if (asked.temperature > 0.0) { id = sample(asked); } else { id = greedy(); }
  }
  if (tid == 0u) {
    // varied was written above a barrier, where there is an id at all.
    if (largest.y == 0u && atomicLoad(&varied) == 0u) { id = NO_TOKEN; }
    tokens[token_at(token, 1u)] = select(id, GAVE_UP, status[0] != 0u);
  }
}
