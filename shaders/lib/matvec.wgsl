// y[row] = rstd * sum_k weights[row, k] * norm[k] * x[t, k] + bias[row], for t = the last token of the pass (decode has one).
// rstd = 1 / sqrt(mean(x[t, :]^2) + EPS) and norm apply when NORM is set; the sum of squares rides along as one more row
// of the product, so that the norm needs no pass and no barrier of its own (RMSNorm, Zhang and Sennrich 2019).
// LANES threads share a pair of rows and stride along k in blocks of 32; lane 0 emits the pair. The bound weights are rows
// ROW0 .. ROW0 + PART_ROWS of ROWS; ROW0 is even, and PART_ROWS too where another part follows.
// Constants: ROWS, ROW0, PART_ROWS, COLS, NORM, BIAS, EPS, WORKGROUP, LANES, GRID_X. Libraries: block, weights_*, params, lane_sums_*.
// The kernel behind this library defines emit(token, row, y), row even; y.y is past the end when ROWS is odd.
const BLOCKS = COLS / 32u;
const ROWS_PER_WORKGROUP = WORKGROUP / LANES * 2u;

@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;    // (n_tokens, COLS / 4)

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let lane = lid % LANES;
  let part_row = (group.y * GRID_X + group.x) * ROWS_PER_WORKGROUP + lid / LANES * 2u;
  // Rows past the end of the part read its last row; their sums are never emitted.
  let row0 = min(part_row, PART_ROWS - 1u) * BLOCKS;
  let row1 = min(part_row + 1u, PART_ROWS - 1u) * BLOCKS;
  let x0 = (step.n_tokens - 1u) * BLOCKS * 8u;
  var sums = vec3(0.0);   // of the two rows, and of the squares
  for (var block = lane; block < BLOCKS; block += LANES) {
    let i = block * 8u;
    var xs = Block(
      x[x0 + i], x[x0 + i + 1u], x[x0 + i + 2u], x[x0 + i + 3u],
      x[x0 + i + 4u], x[x0 + i + 5u], x[x0 + i + 6u], x[x0 + i + 7u],
    );
    if (NORM) {
      sums.z += block_dot(xs, xs);
      xs = Block(
        xs.a * norm_quad(i), xs.b * norm_quad(i + 1u), xs.c * norm_quad(i + 2u), xs.d * norm_quad(i + 3u),
        xs.e * norm_quad(i + 4u), xs.f * norm_quad(i + 5u), xs.g * norm_quad(i + 6u), xs.h * norm_quad(i + 7u),
      );
    }
    sums.x += block_dot(weight_block(row0 + block), xs);
    sums.y += block_dot(weight_block(row1 + block), xs);
  }
  sums = lane_sums(sums, lid);
  if (lane != 0u || part_row >= PART_ROWS) { return; }
  let row = ROW0 + part_row;
  var rstd = 1.0;
  if (NORM) { rstd = inverseSqrt(sums.z / f32(COLS) + EPS); }
  emit(0u, row, rstd * sums.xy + bias_pair(row));
}
