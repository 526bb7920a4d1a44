// x_few_q8.wgsl where rows are many: a workgroup of 8 * LANES threads brings the blocks of a trip to workgroup memory,
// of each token LANES, while those before are multiplied. Libraries: start; started_* of the format.
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;

const NORMS_HERE = false;
const STAGES = true;
const STAGED = 8u * LANES;    // (8, LANES)

struct X { low: vec4<u32>, high: vec4<u32>, d: f32, start: i32 }
alias Weights = Quants;

var<workgroup> staged_low: array<vec4<u32>, STAGED>;
var<workgroup> staged_high: array<vec4<u32>, STAGED>;
var<workgroup> staged_scales: array<vec2<u32>, STAGED>;    // d, start
var<private> next_low: vec4<u32>;
var<private> next_high: vec4<u32>;
var<private> next_d: u32;

// Issues the loads of a thread's block of a trip.
fn fetch_x(trip: u32, lid: u32) {
  let at = present(lid / LANES) * BLOCKS + min(trip * LANES + lid % LANES, BLOCKS - 1u);
  let d = step.n_tokens * BLOCKS * 8u + at;   // in words
  next_low = x[at * 2u];
  next_high = x[at * 2u + 1u];
  next_d = x[d / 4u][d % 4u];
}

// Leaves the block for all threads, which have read those before.
fn stage_x(lid: u32) {
  workgroupBarrier();
  staged_low[lid % STAGED] = next_low;
  staged_high[lid % STAGED] = next_high;
  staged_scales[lid % STAGED] = vec2(next_d, u32(start16(next_low) + start16(next_high) - SUM_BITS));
  workgroupBarrier();
}

alias Held = Raw;
fn load_held(block: u32) -> Held { return load_raw(block); }

fn weights_of(w: Held, block: u32) -> Weights { return unpack_started(packed(w, block)); }

// Of token first + t, `first` 0 or 4, t < 4. The remainders change nothing: they show that the block is in bounds.
fn load_x(first: u32, t: u32, block: u32) -> X {
  let at = (first % 5u + t % 4u) * LANES + block % LANES;
  let scales = staged_scales[at];
  return X(staged_low[at], staged_high[at], bitcast<f32>(scales.x), bitcast<i32>(scales.y));
}

fn square_of(x: X) -> f32 { return 0.0; }

fn product(w: Weights, x: X) -> f32 { return scaled_dot_started(w, x.low, x.high, x.d, x.start); }
