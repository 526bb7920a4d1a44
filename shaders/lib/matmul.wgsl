// y[t, row] = rstd[t] * sum_k weights[row, k] * norm[k] * x[t, k] + bias[row]: matvec.wgsl for many tokens at once.
// One workgroup of 128 threads makes a tile of TILE_TOKENS x TILE_ROWS, 32 columns (one quantised block) at a time,
// each thread 4 tokens x 4 rows. The sum of squares of a token is gathered while its tile is loaded.
// Constants: ROWS, COLS, NORM, BIAS, EPS. The kernel behind this library defines emit(token, row, y), row even.
const BLOCKS = COLS / 32u;
const TILE_TOKENS = 32u;
const TILE_ROWS = 64u;
const WORKGROUP = 128u;

@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;    // (n_tokens, COLS / 4)
@group(0) @binding(3) var<storage, read> params: array<f32>;     // norm (COLS) when NORM, then bias (ROWS) when BIAS

var<workgroup> x_tile: array<vec4<f32>, TILE_TOKENS * 8u>;
var<workgroup> w_tile: array<vec4<f32>, TILE_ROWS * 8u>;
var<workgroup> squares: array<f32, TILE_TOKENS * 8u>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token0 = group.y * TILE_TOKENS;
  let row0 = group.x * TILE_ROWS;
  let my_tokens = lid / 16u * 4u;   // of the tile: 4 in a run
  let my_rows = lid % 16u * 2u;     // of the tile: a pair here and a pair 32 rows on
  var acc: array<vec4<f32>, 4>;     // (token, row)
  var square = vec2(0.0);           // of the two quads of a block that this thread loads
  for (var block = 0u; block < BLOCKS; block++) {
    for (var i = 0u; i < 2u; i++) {
      let quad = lid % 8u;
      let token = lid / 8u + i * 16u;
      var value = vec4(0.0);        // a token past the end is zero
      if (token0 + token < step.n_tokens) { value = x[(token0 + token) * BLOCKS * 8u + block * 8u + quad]; }
      if (NORM) {
        let k = block * 32u + quad * 4u;
        square[i] += dot(value, value);
        value *= vec4(params[k], params[k + 1u], params[k + 2u], params[k + 3u]);
      }
      x_tile[token * 8u + quad] = value;
    }
    if (lid < TILE_ROWS) {
      let w = weight_block(min(row0 + lid, ROWS - 1u) * BLOCKS + block);
      for (var i = 0u; i < 8u; i++) { w_tile[lid * 8u + i] = w[i]; }
    }
    workgroupBarrier();
    for (var i = 0u; i < 8u; i++) {
      let w0 = w_tile[my_rows * 8u + i];
      let w1 = w_tile[(my_rows + 1u) * 8u + i];
      let w2 = w_tile[(my_rows + 32u) * 8u + i];
      let w3 = w_tile[(my_rows + 33u) * 8u + i];
      for (var t = 0u; t < 4u; t++) {
        let xt = x_tile[(my_tokens + t) * 8u + i];
        acc[t] += vec4(dot(xt, w0), dot(xt, w1), dot(xt, w2), dot(xt, w3));
      }
    }
    workgroupBarrier();
  }
  if (NORM) {
    for (var i = 0u; i < 2u; i++) { squares[(lid / 8u + i * 16u) * 8u + lid % 8u] = square[i]; }
    workgroupBarrier();
  }
  for (var t = 0u; t < 4u; t++) {
    let token = my_tokens + t;
    var rstd = 1.0;
    if (NORM) {
      var sum = 0.0;
      for (var i = 0u; i < 8u; i++) { sum += squares[token * 8u + i]; }
      rstd = inverseSqrt(sum / f32(COLS) + EPS);
    }
    if (token0 + token < step.n_tokens) {
      let row = row0 + my_rows;
      if (row < ROWS) { emit(token0 + token, row, rstd * acc[t].xy + bias_pair(row)); }
      if (row + 32u < ROWS) { emit(token0 + token, row + 32u, rstd * acc[t].zw + bias_pair(row + 32u)); }
    }
  }
}

fn bias_pair(row: u32) -> vec2<f32> {
  if (!BIAS) { return vec2(0.0); }
  let base = select(0u, COLS, NORM);
  return vec2(params[base + row], params[base + min(row + 1u, ROWS - 1u)]);
}
