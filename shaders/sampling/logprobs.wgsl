// The second half of log softmax, after the draw: an entry of the ring with the log probability of the token drawn, and
// the n_logprobs most probable tokens with theirs, before anything changed the logits. Of equals the lower id is first.
//
// One workgroup goes down a tree: of all parts the best by their largest key, of their groups the best, of their logits
// the best. At each level what is not among the best n has n better ones, and so has everything below it. Ranks are
// counted among the few that are left, and no two are equal, so no order of threads changes a result.
// The row is that of the last token of a pass, or of each of a batch (y).
// Loads that wait for each other: parts, maxima of n_logprobs parts, logits of n_logprobs groups.
// Rows of logits and maxima are padded to 16 bytes.
// Constants: VOCAB_SIZE, RING, ENTRIES of a step, MOST. Libraries: sampling, asked or asked_batch, logit_key.
@group(0) @binding(0) var<storage, read> logits: array<u32>;         // (rows, VOCAB_SIZE), as the head left them
@group(0) @binding(1) var<storage, read> maxima: array<u32>;         // (rows, ceil(VOCAB_SIZE / 32)), of these logits
@group(0) @binding(3) var<storage, read> tokens: array<u32>;         // the ids: see places
@group(0) @binding(4) var<storage, read> parts: array<vec2u>;        // (rows, ceil(VOCAB_SIZE / 1024)), of logprob_part
// (RING, ENTRIES), each 1 + 2 * n_logprobs words, in a batch always with room for MOST: bits of the token's own, then
// (id, bits) each. Ids that lack are NO_TOKEN.
@group(0) @binding(5) var<storage, read_write> ring: array<u32>;

const THREADS = 256u;
const NO_TOKEN = 0xffffffffu;
const GROUPS = (VOCAB_SIZE + 31u) / 32u;
const LOGITS_STRIDE = (VOCAB_SIZE + 3u) / 4u * 4u;
const MAXIMA_STRIDE = (GROUPS + 3u) / 4u * 4u;
const PARTS = min((VOCAB_SIZE + 1023u) / 1024u, MOST_PARTS);
const MOST_PARTS = 1024u;        // a larger vocabulary is refused with the request

// Padded to whole fours.
var<workgroup> list: array<vec2u, max(PARTS, 32u * MOST) + 3u>;   // (key, index of the part, of the group, or id)
var<workgroup> kept: array<vec2u, MOST>;                     // the best of the list, best first
var<workgroup> counter: atomic<u32>;
var<workgroup> agreed: u32;
var<workgroup> sums: array<f32, THREADS>;
var<workgroup> chosen: u32;                                  // key of the token drawn

var<private> tid: u32;
var<private> row: u32;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_id) lid: vec3u, @builtin(workgroup_id) wid: vec3u) {
  tid = lid.x;
  row = wid.y;
  let token = row + select(step.n_tokens - 1u, 0u, BATCHED);
  let n = min(asked_of(wid.y).n_logprobs, MOST);
  for (var i = tid; i < PARTS; i += THREADS) { list[i] = vec2u(parts[row * PARTS + i].x, i); }
  // By a thread that ranks nothing: its two loads wait for each other.
  if (tid == THREADS - 1u) { chosen = key_at(tokens[token_at(token, 1u)]); }
  keep_best(PARTS, max(n, 1u));
  let m = logit_of(kept[0].x);
  let log_sum = log(sum_of_parts(m));
  let at = step.position + select(step.n_tokens, 1u, BATCHED);
  let entry = (at % RING * ENTRIES + kv_slot(token)) * (1u + 2u * select(n, MOST, BATCHED));
  if (tid == 0u) { ring[entry] = logprob_bits(chosen, m, log_sum); }
  if (n > 0u) {
    var found = descend(min(n, PARTS), n, false);
    found = descend(min(n, found), n, true);
    if (tid < n) {
      var best = vec2u(0u, NO_TOKEN);
      if (tid < found) { best = kept[tid]; }
      ring[entry + 1u + 2u * tid] = best.y;
      ring[entry + 2u + 2u * tid] = logprob_bits(best.x, m, log_sum);
    }
  }
}

fn key_at(id: u32) -> u32 {
  if (id < VOCAB_SIZE) { return key_of(logits[row * LOGITS_STRIDE + id]); }
  return 0u;
}

fn logprob_bits(key: u32, m: f32, log_sum: f32) -> u32 {
  if (key == 0u) { return 0xff800000u; }
  return bitcast<u32>(logit_of(key) - m - log_sum);
}

fn sum_of_parts(m: f32) -> f32 {
  var sum = 0.0;
  for (var i = tid; i < PARTS; i += THREADS) {
    let part = parts[row * PARTS + i];
    if (part.x > 0u) { sum += bitcast<f32>(part.y) * exp(max(logit_of(part.x) - m, -1e30)); }
  }
  sums[tid] = sum;
  workgroupBarrier();
  if (tid < 16u) { sums[tid] = sum_of(tid, 16u); }
  workgroupBarrier();
  return sum_of(0u, 1u);
}

fn sum_of(first: u32, stride: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < 16u; i++) { sum += sums[first + i * stride]; }
  return sum;
}

fn better(a: vec2u, b: vec2u) -> bool { return a.x > b.x || (a.x == b.x && a.y < b.y); }

// The best n of the first `length` of the list, in order. Four loads at a time do not wait for each other.
fn keep_best(length: u32, n: u32) {
  if (tid < 3u) { list[length + tid] = vec2u(0u, NO_TOKEN); }
  workgroupBarrier();
  for (var i = tid; i < length; i += THREADS) {
    let mine = list[i];
    var rank = 0u;
    for (var j = 0u; j < length; j += 4u) {
      let a = list[j];
      let b = list[j + 1u];
      let c = list[j + 2u];
      let d = list[j + 3u];
      rank += select(0u, 1u, better(a, mine)) + select(0u, 1u, better(b, mine)) + select(0u, 1u, better(c, mine)) +
        select(0u, 1u, better(d, mine));
    }
    if (rank < n) { kept[rank] = mine; }
  }
  workgroupBarrier();
}

// Of the 32 groups of each part kept, or of the 32 logits of each group kept, keeps the best n. Returns how many of
// them have a logit above -Infinity.
fn descend(n_kept: u32, n: u32, to_logits: bool) -> u32 {
  if (tid == 0u) { atomicStore(&counter, 0u); }
  workgroupBarrier();
  // What is below the n-th of the parents is below n of the children.
  var floor = 1u;
  if (n_kept == n) { floor = max(1u, kept[n - 1u].x); }
  for (var i = tid; i < 32u * n_kept; i += THREADS) {
    let index = 32u * kept[i / 32u].y + i % 32u;
    var key = 0u;
    if (to_logits) {
      key = key_at(index);
    } else if (index < GROUPS) {
      key = maxima[row * MAXIMA_STRIDE + index];
    }
    if (key >= floor) { list[atomicAdd(&counter, 1u)] = vec2u(key, index); }
  }
  workgroupBarrier();
  if (tid == 0u) { agreed = atomicLoad(&counter); }
  let length = workgroupUniformLoad(&agreed);
  keep_best(length, n);
  return min(length, n);
}
