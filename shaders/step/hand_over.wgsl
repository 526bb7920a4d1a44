// Words that workgroups of one dispatch hand to one another. WGSL has no barrier between workgroups and no order among
// relaxed atomics, so no word vouches for another: each carries 24 bits of payload and the low 8 bits of its epoch. A
// reader polls the words that it needs until each has the epoch that it waits for. This rests on the coherence of one
// atomic location alone.
//
// No word is overwritten too early: every workgroup contributes to each region of a layer, and reads whole regions
// before it publishes the next one. A word that is read early has the epoch before, since a region is written once an
// epoch. A wait ends after a number of polls; who gives up sets STATUS, the others see it and stop waiting, and the
// steps behind return at once.
// Constants: THREADS, SUBGROUP (lanes of the smallest subgroup), ROWS (most tokens of a step).
const STATUS = 0u;    // not 0: a workgroup gave up
const EPOCH = 1u;     // the epoch of the next dispatch's first layer
const SPINS = 2u;     // polls of a wait, about
const MOST_SPINS = 0x1000000u;    // a constant bound: a loop without one gets a counter of its own
const LOOK_EVERY = 255u;

var<workgroup> lost: atomic<u32>;          // not 0: a thread of this workgroup gave up
var<private> gave_up: bool;
var<private> spins: u32;
var<private> lid: u32;
var<private> wg: u32;

// A float of which 16 bits of mantissa remain, rounded. NaN stays one, also 0x7fffffff, which NVIDIA's arithmetic
// gives.
fn float24(x: f32) -> u32 { return (u32(min(bitcast<i32>(x), 0x7fffff7f)) + 0x80u) >> 8u; }
fn from24(payload: u32) -> f32 { return bitcast<f32>(payload << 8u); }

// A NaN becomes an infinity, which no max of floats loses: NaNs of either sign lie above its bits.
fn without_nan(x: f32) -> f32 { return bitcast<f32>(min(u32(min(bitcast<i32>(x), 0x7f800000)), 0xff800000u)); }

// Tokens of the step.
fn n_rows() -> u32 { return select(step.n_tokens, 1u, ROWS == 1u); }

fn poll(i: u32) -> u32 { return atomicLoad(&words[i]); }

fn stops_waiting(n: u32) -> bool { return n >= spins || atomicLoad(&words[STATUS]) != 0u; }

fn give_up() {
  gave_up = true;
  atomicStore(&lost, 1u);
  atomicStore(&words[STATUS], 1u);
}

// The sum over neighboring lanes, 2 to SUBGROUP of them.
fn add_lanes(x: f32, lanes: u32) -> f32 {
  var sum = x;
  for (var offset = lanes / 2u; offset > 0u; offset /= 2u) { sum += subgroupShuffleXor(sum, offset); }
  return sum;
}

fn max_lanes(x: f32) -> f32 {
  var most = x;
  for (var offset = SUBGROUP / 2u; offset > 0u; offset /= 2u) { most = max(most, subgroupShuffleXor(most, offset)); }
  return most;
}
