// What a fused step asks of a GPU, without its products: how many workgroups run at once, and how long they take to
// hand words to one another. Every wait ends after MOST_POLLS; who gives up says so in GAVE_UP, and the others stop
// waiting. A workgroup has the threads and the workgroup memory of the step. Each thread has 64 registers that it
// cannot free.
// Constants: THREADS, PAD (u32 values of workgroup memory), MOST_POLLS.
const GAVE_UP = 0u;     // not 0: a wait ended in vain
const ARRIVED = 1u;     // workgroups that have begun
const SEEN = 2u;        // of these, when the first wait ended in vain
const EPOCH = 3u;       // the number of the last round
const FIRST_WORD = 64u;
const ROUND_WORDS = 2u * THREADS;
const LOOK_EVERY = 255u;
const NEVER = 0xffffffffu;

@group(0) @binding(0) var<storage, read_write> words: array<atomic<u32>>;    // FIRST_WORD, then two rounds
@group(0) @binding(1) var<storage, read> values: array<mat4x4<f32>>;         // at least 20

var<workgroup> pad: array<u32, PAD>;
var<workgroup> is_dead: u32;
var<private> a: mat4x4<f32>;
var<private> b: mat4x4<f32>;
var<private> c: mat4x4<f32>;
var<private> d: mat4x4<f32>;

fn occupy(lid: u32) {
  let first = lid % 16u;
  a = values[first];
  b = values[first + 1u];
  c = values[first + 2u];
  d = values[first + 3u];
  pad[lid % PAD] = lid;
}

// Keeps the registers in use across a wait. `word` is never NEVER, which no compiler knows.
fn keep(word: u32) {
  if (word == NEVER) {
    a += b;
    b += c;
    c += d;
    d += a;
  }
}

fn release(lid: u32) {
  let sum = (a + b + c + d) * vec4(1.0);
  if (dot(sum, sum) == 0.5 || pad[lid % PAD] == NEVER) { atomicStore(&words[4], 1u); }
}

// Each workgroup arrives, and waits for all others.
@compute @workgroup_size(THREADS)
fn arrive(@builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  occupy(lid);
  workgroupBarrier();
  if (lid == 0u && atomicLoad(&words[GAVE_UP]) == 0u) {
    var arrived = atomicAdd(&words[ARRIVED], 1u) + 1u;
    for (var n = 0u; n < MOST_POLLS; n++) {
      if (arrived >= grid.x || atomicLoad(&words[GAVE_UP]) != 0u) { break; }
      keep(arrived);
      arrived = atomicLoad(&words[ARRIVED]);
    }
    if (arrived < grid.x && atomicLoad(&words[GAVE_UP]) == 0u) {
      atomicMin(&words[SEEN], arrived);
      atomicStore(&words[GAVE_UP], 1u);
    }
  }
  workgroupBarrier();    // nobody frees its registers before
  release(lid);
}

// Waits for two words of a round.
fn take(i: u32, round: u32) {
  let j = i + THREADS;
  var x = atomicLoad(&words[i]);
  var y = atomicLoad(&words[j]);
  for (var n = 0u; n < MOST_POLLS; n++) {
    if (x == round && y == round) { break; }
    if ((n & LOOK_EVERY) == LOOK_EVERY && atomicLoad(&words[GAVE_UP]) != 0u) { break; }
    keep(x | y);
    if (x != round) { x = atomicLoad(&words[i]); }
    if (y != round) { y = atomicLoad(&words[j]); }
  }
  if (x != round || y != round) { atomicStore(&words[GAVE_UP], 1u); }
}

// step.n_tokens rounds: each workgroup leaves its share of the words, and takes all of them. Two rounds take turns,
// since who leaves a word has taken those that all workgroups left after their last take.
@compute @workgroup_size(THREADS)
fn hand_over(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) lid: u32,
) {
  occupy(lid);
  let epoch = atomicLoad(&words[EPOCH]);
  if (lid == 0u) { is_dead = atomicLoad(&words[GAVE_UP]); }
  if (workgroupUniformLoad(&is_dead) != 0u) { return; }
  let own = (ROUND_WORDS + grid.x - 1u) / grid.x;
  let first = workgroup.x * own;
  for (var n = 1u; n <= step.n_tokens; n++) {
    let round = epoch + n;
    let region = FIRST_WORD + (round & 1u) * ROUND_WORDS;
    for (var i = first + lid; i < min(first + own, ROUND_WORDS); i += THREADS) { atomicStore(&words[region + i], round); }
    workgroupBarrier();    // no subgroup waits for words of its own workgroup
    take(region + lid, round);
    workgroupBarrier();
    if (lid == 0u) { is_dead = atomicLoad(&words[GAVE_UP]); }
    if (workgroupUniformLoad(&is_dead) != 0u) { break; }
  }
  release(lid);
  // Every workgroup has read the epoch: it has left words that this one has taken.
  if (workgroup.x == 0u && lid == 0u) { atomicStore(&words[EPOCH], epoch + step.n_tokens); }
}
