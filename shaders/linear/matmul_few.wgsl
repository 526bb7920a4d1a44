// y[t, row] = rstd[t] * sum_k weights[row, k] * norm[k] * x[t, k] + bias[row] for up to 8 tokens: matvec.wgsl where
// each block of weights is read once for all of them. The sums of a token do not depend on the others.
//
// LANES threads share a pair of rows, a lane every LANES-th block of 32 columns. The weights of the next trip are on
// their way while those of this trip are multiplied with the blocks of four tokens, and of four more where there are as
// many. Then the lanes add up in a tree. The bound weights are rows ROW0 .. ROW0 + PART_ROWS of ROWS.
// Constants: ROWS, ROW0, PART_ROWS, COLS, NORM, BIAS, EPS, WORKGROUP, LANES: powers of two, GRID_X.
// Libraries: weights/*, x_few_*, params. The epilogue defines fetch(token, row) and emit(token, row, y, fetched), row
// even.
const BLOCKS = COLS / 32u;
const GROUPS = WORKGROUP / LANES;                     // pairs of rows of a workgroup
const TRIPS = (BLOCKS + LANES - 1u) / LANES;
const VECS = select(4u, 6u, NORMS_HERE);              // of a thread, in lane_sums

// Of four tokens: both rows, and the squares of x.
struct Sums { a: vec4<f32>, b: vec4<f32>, square: vec4<f32> }

// (VECS, WORKGROUP): of tokens 0 to 3, then 4 to 7: the first rows, the second ones, the squares
var<workgroup> lane_sums: array<vec4<f32>, VECS * WORKGROUP>;

// Past the last token that one again: what it gives is never emitted.
fn x_of(token: u32, block: u32) -> X { return load_x(min(token, step.n_tokens - 1u), block); }

fn add_four(s: Sums, w0: Weights, w1: Weights, first: u32, block: u32) -> Sums {
  let x0 = x_of(first, block);
  let x1 = x_of(first + 1u, block);
  let a01 = vec2(product(w0, x0), product(w0, x1));
  let b01 = vec2(product(w1, x0), product(w1, x1));
  let x2 = x_of(first + 2u, block);
  let x3 = x_of(first + 3u, block);
  let a23 = vec2(product(w0, x2), product(w0, x3));
  let b23 = vec2(product(w1, x2), product(w1, x3));
  return Sums(
    s.a + vec4(a01, a23), s.b + vec4(b01, b23),
    s.square + vec4(square_of(x0), square_of(x1), square_of(x2), square_of(x3)),
  );
}

fn put(first: u32, lid: u32, s: Sums) {
  lane_sums[first * WORKGROUP + lid] = s.a;
  lane_sums[(first + 1u) * WORKGROUP + lid] = s.b;
  if (NORMS_HERE) { lane_sums[(first + 2u) * WORKGROUP + lid] = s.square; }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let lane = lid % LANES;
  let part_row = ((group.y * GRID_X + group.x) * GROUPS + lid / LANES) * 2u;
  let first_row = min(part_row, PART_ROWS - 1u) * BLOCKS;
  let second_row = min(part_row + 1u, PART_ROWS - 1u) * BLOCKS;
  var near = Sums();   // of the first four tokens
  var far = Sums();
  var next0 = load_packed(first_row + min(lane, BLOCKS - 1u));
  var next1 = load_packed(second_row + min(lane, BLOCKS - 1u));
  for (var trip = 0u; trip < TRIPS; trip++) {
    let block = lane + trip * LANES;
    let w0 = weights_of(next0);
    let w1 = weights_of(next1);
    if (trip + 1u < TRIPS) {
      let later = min(block + LANES, BLOCKS - 1u);
      next0 = load_packed(first_row + later);
      next1 = load_packed(second_row + later);
    }
    if (block < BLOCKS) {
      near = add_four(near, w0, w1, 0u, block);
      if (step.n_tokens > 4u) { far = add_four(far, w0, w1, 4u, block); }
    }
  }
  put(0u, lid, near);
  put(VECS / 2u, lid, far);
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      for (var i = lid; i < VECS * WORKGROUP; i += WORKGROUP) { lane_sums[i] += lane_sums[i + half]; }
    }
  }
  workgroupBarrier();
  if (part_row < PART_ROWS) {
    let row = ROW0 + part_row;
    let bias = bias_pair(row);
    for (var token = lane; token < step.n_tokens; token += LANES) {
      let at = token / 4u * (VECS / 2u) * WORKGROUP + lid - lane;
      var rstd = 1.0;
      if (NORMS_HERE) { rstd = inverseSqrt(lane_sums[at + 2u * WORKGROUP][token % 4u] / f32(COLS) + EPS); }
      let y = rstd * vec2(lane_sums[at][token % 4u], lane_sums[at + WORKGROUP][token % 4u]);
      emit(token, row, y + bias, fetch(token, row));
    }
  }
}
