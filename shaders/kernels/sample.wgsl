// tokens[position + n_tokens] = an id drawn from softmax(logits / temperature), after top-k, top-p and min-p.
// One workgroup does it all, without a sort: each filter is a threshold on the logit, found by counting what lies above.
//
// A draw is Gumbel-max: the argmax of logit / temperature + g, where g depends on (id, position, seed) alone. Sums are sums of
// integers. So no order of threads changes the result. src/cpu/sample.ts is the same in plain words.
//
// Two ways to a threshold: among few candidates (a list in workgroup memory) by comparing all pairs; among all logits by
// radix select, four passes of eight bits. The list: each of the 256 threads knows the largest logit it read; whatever is as
// large as the top_k-th (or LIST_GOAL-th) of those 256 is listed, at least that many and seldom twice as many.
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

// Lists every key >= floor; returns how many there are, which may be more than fit.
fn build_list(floor: u32) -> u32 {
  if (tid == 0u) { atomicStore(&counter, 0u); }
  workgroupBarrier();
  for (var first = 0u; first < VOCAB_SIZE; first += BATCH * THREADS) {
    var keys = load_batch(first);
    for (var j = 0u; j < BATCH; j++) {
      if (keys[j] >= floor) {
        let slot = atomicAdd(&counter, 1u);
        if (slot < LIST_SIZE) {
          list_key[slot] = keys[j];
          list_id[slot] = first + j * THREADS + tid;
        }
      }
    }
  }
  workgroupBarrier();
  if (tid == 0u) { agreed.x = atomicLoad(&counter); }
  return workgroupUniformLoad(&agreed).x;
}

// Gives each key >= floor of the list its weight, the others none; returns the sum.
fn weigh_list(n: u32, floor: u32, unit: f32) -> u32 {
  var sum = 0u;
  for (var i = tid; i < n; i += THREADS) {
    list_weight[i] = select(0u, weight(list_key[i], unit), list_key[i] >= floor);
    sum += list_weight[i];
  }
  return reduce_sum(sum);
}

// The smallest key of the list with less than `goal` above it: what is as large weighs `goal` or more.
fn list_threshold(n: u32, goal: u32) -> u32 {
  if (tid == 0u) { atomicStore(&counter, 0xffffffffu); }
  workgroupBarrier();
  for (var i = tid; i < n; i += THREADS) {
    let key = list_key[i];
    var above = 0u;
    for (var j = 0u; j < n; j++) { above += select(0u, list_weight[j], list_key[j] > key); }
    if (above < goal) { atomicMin(&counter, key); }
  }
  workgroupBarrier();
  if (tid == 0u) { agreed.x = atomicLoad(&counter); }
  return workgroupUniformLoad(&agreed).x;
}

// The same among all logits with key >= floor; 0 if they weigh less than `goal` together.
fn radix_threshold(floor: u32, unit: f32, goal: u32) -> u32 {
  var prefix = 0u;     // the digits found so far
  var mask = 0u;
  var rest = goal;     // what is still to be weighed at this prefix
  for (var digit = 0u; digit < 4u; digit++) {
    let shift = 24u - 8u * digit;
    atomicStore(&bins[tid], 0u);
    workgroupBarrier();
    for (var id = tid; id < VOCAB_SIZE; id += THREADS) {
      let key = key_at(id);
      if (key >= floor && (key & mask) == prefix) {
        let w = weight(key, unit);
        if (w > 0u) { atomicAdd(&bins[(key >> shift) & 255u], w); }
      }
    }
    workgroupBarrier();
    var above = 0u;
    for (var bin = tid + 1u; bin < THREADS; bin++) { above += atomicLoad(&bins[bin]); }
    let sum = above + atomicLoad(&bins[tid]);
    if (sum >= rest && above < rest) { agreed = vec2u(tid, rest - above); }
    if (tid == 0u && sum < rest) { agreed = vec2u(0u, rest); }
    let found = workgroupUniformLoad(&agreed);
    prefix |= found.x << shift;
    mask |= 255u << shift;
    rest = found.y;
  }
  return prefix;
}

// The weight of all logits with key >= floor.
fn total_weight(floor: u32, unit: f32) -> u32 {
  var sum = 0u;
  for (var first = 0u; first < VOCAB_SIZE; first += BATCH * THREADS) {
    var keys = load_batch(first);
    for (var j = 0u; j < BATCH; j++) {
      if (keys[j] >= floor) { sum += weight(keys[j], unit); }
    }
  }
  return reduce_sum(sum);
}

// Fixed point such that all keys >= floor weigh at most 2^31 together, and not much less. A first, coarse sum bounds them:
// each addend has half of a coarse step too much at most, or too little.
fn fine_unit(floor: u32) -> f32 {
  let coarse = f32(0x40000000u / VOCAB_SIZE);
  return 2147483648.0 / ((f32(total_weight(floor, coarse)) + 0.5 * f32(VOCAB_SIZE)) / coarse);
}

// pcg3d of Jarzynski and Olano 2020, first word.
fn pcg3d(id: u32, position: u32, seed: u32) -> u32 {
  var v = vec3u(id, position, seed) * 1664525u + 1013904223u;
  v.x += v.y * v.z;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v ^= v >> vec3u(16u);
  return v.x + v.y * v.z;
}

// g = -log(e), e = -log(1 - v), v uniform in (0, 1). Small v win; WGSL's log is poor next to 1, so there e is
// 2 atanh(z), z = v / (2 - v) <= 1/3, as a series.
fn gumbel(id: u32, position: u32) -> f32 {
  let v = min((f32(pcg3d(id, position, sampling.seed)) + 0.5) * 0x1p-32f, 1.0 - 0x1p-24f);
  let z = v / (2.0 - v);
  let s = z * z;
  let series = 1.0 + s * (1.0 / 3.0 + s * (1.0 / 5.0 + s * (1.0 / 7.0 + s * (1.0 / 9.0 + s * (1.0 / 11.0 + s / 13.0)))));
  var e = 2.0 * z * series;
  if (v > 0.5) { e = -log(1.0 - v); }
  return -log(e);
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
