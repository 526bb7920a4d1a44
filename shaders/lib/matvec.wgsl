// y[row] = rstd * sum_k weights[row, k] * norm[k] * x[t, k] + bias[row], for t = the last token of the pass (decode has one).
// rstd = 1 / sqrt(mean(x[t, :]^2) + EPS) and norm apply when NORM is set; the sum of squares is one more row of the
// product, so that the norm needs no pass and no barrier of its own (RMSNorm, Zhang and Sennrich 2019).
// LANES threads share ROWS_PER_LANE_GROUP rows and stride along k in blocks of 32; lane 0 emits pairs of adjacent rows.
// Constants: ROWS, COLS, NORM, BIAS, EPS, WORKGROUP, LANES, ROWS_PER_LANE_GROUP (even), ROWS_PER_WORKGROUP, GRID_X.
// The kernel behind this library defines emit(token, row, y), row even; y.y is past the end when ROWS is odd.
const BLOCKS = COLS / 32u;
const R = ROWS_PER_LANE_GROUP;
const SUMS = R + 1u;  // the rows, then the sum of squares

@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;    // (n_tokens, COLS / 4)
@group(0) @binding(3) var<storage, read> params: array<f32>;     // norm (COLS) when NORM, then bias (ROWS) when BIAS

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let lane = lid % LANES;
  let row0 = (group.y * GRID_X + group.x) * ROWS_PER_WORKGROUP + lid / LANES * R;
  let x0 = (step.n_tokens - 1u) * BLOCKS * 8u;
  var sums: array<f32, SUMS>;
  for (var block = lane; block < BLOCKS; block += LANES) {
    var xs: array<vec4<f32>, 8>;
    for (var i = 0u; i < 8u; i++) {
      let quad = block * 8u + i;
      xs[i] = x[x0 + quad];
      if (NORM) {
        sums[R] += dot(xs[i], xs[i]);
        xs[i] *= vec4(params[quad * 4u], params[quad * 4u + 1u], params[quad * 4u + 2u], params[quad * 4u + 3u]);
      }
    }
    for (var r = 0u; r < R; r++) {
      // Rows past the end read the last row; their sums are never emitted.
      let w = weight_block(min(row0 + r, ROWS - 1u) * BLOCKS + block);
      for (var i = 0u; i < 8u; i++) { sums[r] += dot(w[i], xs[i]); }
    }
  }
  lane_sums(&sums, lid);
  if (lane != 0u) { return; }
  var rstd = 1.0;
  if (NORM) { rstd = inverseSqrt(sums[R] / f32(COLS) + EPS); }
  for (var r = 0u; r < R; r += 2u) {
    let row = row0 + r;
    if (row < ROWS) { emit(0u, row, rstd * vec2(sums[r], sums[r + 1u]) + bias_pair(row)); }
  }
}

fn bias_pair(row: u32) -> vec2<f32> {
  if (!BIAS) { return vec2(0.0); }
  let base = select(0u, COLS, NORM);
  return vec2(params[base + row], params[base + min(row + 1u, ROWS - 1u)]);
}
