// tokens[position + n_tokens] = an id drawn from softmax(logits / temperature), after top-k, top-p and min-p.
// One workgroup does it all, without a sort: each filter is a threshold on the logit, found by counting what lies above.
//
// A draw is Gumbel-max: the argmax of logit / temperature + g, where g depends on (id, position, seed) alone. Sums are sums of
// integers. So no order of threads changes the result. src/cpu/sample.ts is the same in plain words.
//
// The candidates of the list in workgroup memory: each of the 256 threads knows the largest logit it read; whatever is as
// large as the top_k-th (or LIST_GOAL-th) of those 256 is listed, at least that many and seldom twice as many.
// Constants: VOCAB_SIZE. Libraries: sampling, gumbel, sample_thresholds.
@group(0) @binding(0) var<storage, read> logits: array<u32>;         // (VOCAB_SIZE) bits of f32: WGSL may assume no f32 is NaN
@group(0) @binding(1) var<uniform> sampling: Sampling;
@group(0) @binding(2) var<storage, read_write> tokens: array<u32>;   // (CONTEXT + 1)

const THREADS = 256u;    // and the bins of one radix pass
const LIST_SIZE = 512u;
const LIST_GOAL = 160u;
const BATCH = 8u;        // loads in flight per thread

var<workgroup> list_key: array<u32, LIST_SIZE>;
var<workgroup> list_id: array<u32, LIST_SIZE>;
var<workgroup> list_weight: array<u32, LIST_SIZE>;
var<workgroup> bins: array<atomic<u32>, THREADS>;
var<workgroup> best: array<vec2u, THREADS>;      // (key, id)
var<workgroup> counter: atomic<u32>;
var<workgroup> agreed: vec2u;                    // what one thread tells all

var<private> tid: u32;
var<private> top_logit: f32;

// Keys order as logits do. 0 is no candidate: NaN, an infinity, past the end. -0 is +0.
fn key_of(bits: u32) -> u32 {
  if ((bits & 0x7f800000u) == 0x7f800000u) { return 0u; }
  if (bits == 0x80000000u) { return 0x80000000u; }
  return select(bits | 0x80000000u, ~bits, bits > 0x80000000u);
}

fn logit_of(key: u32) -> f32 {
  return bitcast<f32>(select(~key, key & 0x7fffffffu, key >= 0x80000000u));
}

fn key_at(id: u32) -> u32 {
  if (id < VOCAB_SIZE) { return key_of(logits[id]); }
  return 0u;
}

// Keys of ids first + tid, + THREADS ...: the loads do not wait for each other.
fn load_batch(first: u32) -> array<u32, BATCH> {
  var keys: array<u32, BATCH>;
  for (var j = 0u; j < BATCH; j++) { keys[j] = key_at(first + j * THREADS + tid); }
  return keys;
}

// log of the probability relative to the best, at most 0.
fn log_ratio(key: u32) -> f32 {
  return max((logit_of(key) - top_logit) * sampling.inverse_temperature, -1e30);
}

// Probability in fixed point; a unit of 0 counts instead.
fn weight(key: u32, unit: f32) -> u32 {
  if (unit == 0.0) { return 1u; }
  return u32(exp(log_ratio(key)) * unit + 0.5);
}

fn better(a: vec2u, b: vec2u) -> bool { return a.x > b.x || (a.x == b.x && a.y < b.y); }

// The best (key, id) of all threads.
fn reduce_best(mine: vec2u) -> vec2u {
  best[tid] = mine;
  for (var stride = THREADS / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (tid < stride && better(best[tid + stride], best[tid])) { best[tid] = best[tid + stride]; }
  }
  return workgroupUniformLoad(&best[0]);
}

fn reduce_sum(mine: u32) -> u32 {
  if (tid == 0u) { atomicStore(&counter, 0u); }
  workgroupBarrier();
  atomicAdd(&counter, mine);
  workgroupBarrier();
  if (tid == 0u) { agreed.x = atomicLoad(&counter); }
  return workgroupUniformLoad(&agreed).x;
}

// The id with the best score among `n` of the list, or all logits, with key >= floor and enough probability for min-p.
fn draw(listed: bool, n: u32, floor: u32, position: u32) -> u32 {
  var mine = vec2u(0u, 0u);
  for (var i = tid; i < n; i += THREADS) {
    var candidate: vec2u;
    if (listed) { candidate = vec2u(list_key[i], list_id[i]); } else { candidate = vec2u(key_at(i), i); }
    if (candidate.x < floor) { continue; }
    let x = log_ratio(candidate.x);
    if (x < sampling.log_min_p) { continue; }
    let score = vec2u(key_of(bitcast<u32>(x + gumbel(candidate.y, position))), candidate.y);
    if (better(score, mine)) { mine = score; }
  }
  return reduce_best(mine).y;
}

// largest: the largest key of this thread's logits.
fn sample(largest: u32, position: u32) -> u32 {
  let use_k = sampling.top_k > 0u && sampling.top_k < VOCAB_SIZE;
  let use_p = sampling.top_p < 1.0;
  var floor = 1u;          // keys from here on are kept
  var n = LIST_SIZE + 1u;
  var listed = false;      // the list holds all that are kept
  if (use_k || use_p) {
    list_key[tid] = largest;
    list_weight[tid] = 1u;
    workgroupBarrier();
    let list_goal = select(LIST_GOAL, min(sampling.top_k, LIST_GOAL), use_k);
    n = build_list(max(1u, list_threshold(THREADS, list_goal)));
  }
  let fits = n <= LIST_SIZE;

  // Twice the same: first weighing each candidate 1 for top-k, then with its probability for top-p.
  for (var stage = 0u; stage < 2u; stage++) {
    let by_mass = stage == 1u;
    if ((by_mass && !use_p) || (!by_mass && !use_k)) { continue; }
    var unit = 0.0;
    if (by_mass) {
      unit = 2147483648.0 / f32(n);
      if (!listed) { unit = fine_unit(floor); }
    }
    var in_list = 0u;
    if (fits) { in_list = weigh_list(n, floor, unit); }
    var goal = sampling.top_k;
    if (by_mass) {
      var total = in_list;
      if (!listed) { total = total_weight(floor, unit); }
      goal = clamp(u32(ceil(f32(total) * sampling.top_p)), 1u, total);
    }
    listed = in_list >= goal;
    if (listed) {
      floor = max(floor, list_threshold(n, goal));
    } else {
      floor = max(floor, radix_threshold(floor, unit, goal));
    }
  }
  return draw(listed, select(VOCAB_SIZE, n, listed), floor, position);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u) {
  tid = lid.x;
  let position = step.position + step.n_tokens;
  var mine = vec2u(0u, 0u);
  for (var first = 0u; first < VOCAB_SIZE; first += BATCH * THREADS) {
    var keys = load_batch(first);
    for (var j = 0u; j < BATCH; j++) {
      if (keys[j] > mine.x) { mine = vec2u(keys[j], first + j * THREADS + tid); }
    }
  }
  let top = reduce_best(mine);
  top_logit = logit_of(top.x);
  var id = top.y;    // where nothing is finite: 0
  if (sampling.temperature > 0.0 && top.x > 0u) { id = sample(mine.x, position); }
  if (tid == 0u) { tokens[position] = id; }
}
