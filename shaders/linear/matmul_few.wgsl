// y[t, row] = rstd[t] * sum_k weights[row, k] * norm[k] * x[t, k] + bias[row] for up to 8 tokens: matvec.wgsl where
// each block of weights is read once for all of them. The sums of a token do not depend on the others.
//
// LANES threads share PAIRS pairs of rows, a lane every LANES-th block of 32 columns. The weights of the next trip are
// on their way, as they are stored, while those of this trip are multiplied with the blocks of four tokens, and of four
// more where there are as many. Then ADDERS threads add up the lanes of a pair and a token, and one thread adds up what
// those have; half of the tokens at a time where workgroup memory is short. The bound weights are rows ROW0 ..
// ROW0 + PART_ROWS of ROWS.
// Constants: ROWS, ROW0, PART_ROWS, COLS, NORM, BIAS, EPS; PAIRS: 1 or 2; WORKGROUP, LANES: powers of two; AT_ONCE:
// tokens that are added up at once, 4 or 8; GRID_X.
// Libraries: weights/*, params, and x_few_*, which defines NORMS_HERE; X, load_x and square_of; Held, a block of
// weights as it waits, and load_held; Weights, weights_of and product; and STAGES, where fetch_x and stage_x bring the
// x of a trip to workgroup memory. The epilogue defines fetch(token, row) and emit(token, row, y, fetched), row even;
// and finish(first_row, lid), where first_row is that of the workgroup in its part (finish_none).
const BLOCKS = COLS / 32u;
const GROUPS = WORKGROUP / LANES;
const TRIPS = (BLOCKS + LANES - 1u) / LANES;
const GROUP_PAIRS = GROUPS * PAIRS;                   // pairs of rows of a workgroup
const ROWS_PER_WORKGROUP = 2u * GROUP_PAIRS;
const SUMS = AT_ONCE * GROUP_PAIRS;
const ADDERS = clamp(WORKGROUP / SUMS, 1u, LANES);    // of a sum
const ADDED = select(ADDERS, LANES, ADDERS == 1u);    // what is left for one thread
const LANE_STRIDE = LANES + 1u;                            // neighbors in different banks

// Of four tokens: the rows of the first pair, those of the second, and the squares of x.
struct Four { a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>, square: vec4<f32> }

struct Rows { a: Weights, b: Weights, c: Weights, d: Weights }

// (AT_ONCE, GROUP_PAIRS, LANES): both rows of a pair; (AT_ONCE, GROUPS, LANES)
var<workgroup> lane_sums: array<vec2<f32>, SUMS * LANE_STRIDE>;
var<workgroup> lane_squares: array<f32, select(1u, AT_ONCE * GROUPS * LANE_STRIDE, NORMS_HERE)>;

// Past the last token that one again: what it gives is never emitted.
fn present(token: u32) -> u32 { return min(token, step.n_tokens - 1u); }

fn two(w: Weights, x0: X, x1: X) -> vec2<f32> { return vec2(product(w, x0), product(w, x1)); }

fn add_four(s: Four, w: Rows, first: u32, block: u32) -> Four {
  var sum = s;
  let x0 = load_x(first, 0u, block);
  let x1 = load_x(first, 1u, block);
  let a01 = two(w.a, x0, x1);
  let b01 = two(w.b, x0, x1);
  let x2 = load_x(first, 2u, block);
  let x3 = load_x(first, 3u, block);
  sum.a += vec4(a01, two(w.a, x2, x3));
  sum.b += vec4(b01, two(w.b, x2, x3));
  if (PAIRS == 2u) {
    sum.c += vec4(two(w.c, x0, x1), two(w.c, x2, x3));
    sum.d += vec4(two(w.d, x0, x1), two(w.d, x2, x3));
  }
  if (NORMS_HERE) { sum.square += vec4(square_of(x0), square_of(x1), square_of(x2), square_of(x3)); }
  return sum;
}

// Leaves what a thread has of four tokens, the first of which is number `first` of those that are added up at once.
fn leave(first: u32, group: u32, lane: u32, s: Four) {
  for (var t = 0u; t < 4u; t++) {
    let at = ((first + t) * GROUP_PAIRS + group * PAIRS) * LANE_STRIDE + lane;
    lane_sums[at] = vec2(s.a[t], s.b[t]);
    if (PAIRS == 2u) { lane_sums[at + LANE_STRIDE] = vec2(s.c[t], s.d[t]); }
    if (NORMS_HERE) { lane_squares[((first + t) * GROUPS + group) * LANE_STRIDE + lane] = s.square[t]; }
  }
}

// Adds up and emits AT_ONCE tokens from first_token on.
fn add_up(first_token: u32, first_row: u32, lid: u32) {
  workgroupBarrier();
  if (ADDERS > 1u) {
    let at = lid / ADDERS * LANE_STRIDE;
    let part = lid % ADDERS;
    var sum = vec2(0.0);
    for (var i = part; i < LANES; i += ADDERS) { sum += lane_sums[at + i]; }
    workgroupBarrier();
    lane_sums[at + part] = sum;
    workgroupBarrier();
  }
  for (var i = lid; i < SUMS; i += WORKGROUP) {
    let pair = i % GROUP_PAIRS;
    let t = i / GROUP_PAIRS;
    let token = first_token + t;
    let part_row = first_row + 2u * pair;
    if (token < step.n_tokens && part_row < PART_ROWS) {
      var y = vec2(0.0);
      for (var k = 0u; k < ADDED; k++) { y += lane_sums[i * LANE_STRIDE + k]; }
      if (NORMS_HERE) {
        let at = (t * GROUPS + pair / PAIRS) * LANE_STRIDE;
        var square = 0.0;
        for (var k = 0u; k < LANES; k++) { square += lane_squares[at + k]; }
        y *= inverseSqrt(square / f32(COLS) + EPS);
      }
      let row = ROW0 + part_row;
      emit(token, row, y + bias_pair(row), fetch(token, row));
    }
  }
}

fn row_at(row: u32) -> u32 { return min(row, PART_ROWS - 1u) * BLOCKS; }

var<private> near: Four;   // of the first four tokens
var<private> far: Four;

// Multiplies the blocks of a lane; is_far: of more than four tokens. `rows` are the first blocks of four rows.
fn multiply(rows: vec4<u32>, lane: u32, lid: u32, is_far: bool) {
  let begin = min(lane, BLOCKS - 1u);
  var a = load_held(rows.x + begin);
  var b = load_held(rows.y + begin);
  var c = a;
  var d = b;
  if (PAIRS == 2u) {
    c = load_held(rows.z + begin);
    d = load_held(rows.w + begin);
  }
  if (STAGES) { fetch_x(0u, lid); }
  for (var trip = 0u; trip < TRIPS; trip++) {
    let block = lane + trip * LANES;
    if (STAGES) {
      stage_x(lid);
      fetch_x(trip + 1u, lid);
    }
    let at = rows + min(block, BLOCKS - 1u);
    var w = Rows(weights_of(a, at.x), weights_of(b, at.y), Weights(), Weights());
    if (PAIRS == 2u) {
      w.c = weights_of(c, at.z);
      w.d = weights_of(d, at.w);
    }
    // Behind the last trip the last block again: a branch would move all that it loads.
    let later = rows + min(block + LANES, BLOCKS - 1u);
    a = load_held(later.x);
    b = load_held(later.y);
    if (PAIRS == 2u) {
      c = load_held(later.z);
      d = load_held(later.w);
    }
    if (BLOCKS % LANES == 0u || block < BLOCKS) {
      near = add_four(near, w, 0u, block);
      if (is_far) { far = add_four(far, w, 4u, block); }
    }
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let lane = lid % LANES;
  let group = lid / LANES;
  let first_row = (wid.y * GRID_X + wid.x) * ROWS_PER_WORKGROUP;
  let row = first_row + 2u * PAIRS * group;
  let rows = vec4(row_at(row), row_at(row + 1u), row_at(row + 2u), row_at(row + 3u));
  // Written out for each, since a branch within the loop would move every sum.
  if (step.n_tokens > 4u) { multiply(rows, lane, lid, true); } else { multiply(rows, lane, lid, false); }
  leave(0u, group, lane, near);
  if (AT_ONCE == 8u) {
    leave(4u, group, lane, far);
    add_up(0u, first_row, lid);
  } else {
    add_up(0u, first_row, lid);
    workgroupBarrier();
    leave(0u, group, lane, far);
    add_up(4u, first_row, lid);
  }
  finish(first_row, lid);
}
