// y[t, row] = rstd[t] * sum_k weights[row, k] * norm[k] * x[t, k] + bias[row]: matvec.wgsl for many tokens at once.
// One workgroup of 128 threads makes a tile of TILE_TOKENS x TILE_ROWS, 32 columns (one block) at a time, each thread
// 4 tokens x 4 rows. The sum of squares of a token is gathered while its tile is loaded. The bound weights are rows
// ROW0 .. ROW0 + PART_ROWS of ROWS, whole tiles where another part follows.
// Constants: ROWS, ROW0, PART_ROWS, COLS, NORM, BIAS, EPS. Libraries: weights/*, params.
// The epilogue defines fetch(token, row) and emit(token, row, y, fetched), row even.
const BLOCKS = COLS / 32u;
const TILE_TOKENS = 32u;
const TILE_ROWS = 64u;
const WORKGROUP = 128u;

@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;    // (n_tokens, COLS / 4)

var<workgroup> x_tile: array<vec4<f32>, TILE_TOKENS * 8u>;
var<workgroup> w_tile: array<vec4<f32>, TILE_ROWS * 8u>;
var<workgroup> squares: array<f32, TILE_TOKENS * 8u>;

// Loads quad `quad` of a block of a token, zero past the last token, normed but for rstd; returns its sum of squares.
fn load_x(token0: u32, token: u32, block: u32, quad: u32) -> f32 {
  var value = vec4(0.0);
  if (token0 + token < step.n_tokens) { value = x[((token0 + token) * BLOCKS + block) * 8u + quad]; }
  let square = dot(value, value);
  if (NORM) { value *= norm_quad(block * 8u + quad); }
  x_tile[token * 8u + quad] = value;
  return square;
}

fn load_w(part_row: u32, block: u32, at: u32) {
  let w = dequantize(load_packed(min(part_row, PART_ROWS - 1u) * BLOCKS + block));
  w_tile[at] = w.a;
  w_tile[at + 1u] = w.b;
  w_tile[at + 2u] = w.c;
  w_tile[at + 3u] = w.d;
  w_tile[at + 4u] = w.e;
  w_tile[at + 5u] = w.f;
  w_tile[at + 6u] = w.g;
  w_tile[at + 7u] = w.h;
}

fn finish(token0: u32, token: u32, part_row: u32, sums: vec4<f32>) {
  if (token0 + token >= step.n_tokens) { return; }
  var rstd = 1.0;
  if (NORM) {
    var sum = 0.0;
    for (var i = 0u; i < 8u; i++) { sum += squares[token * 8u + i]; }
    rstd = inverseSqrt(sum / f32(COLS) + EPS);
  }
  let row = ROW0 + part_row;
  let t = token0 + token;
  if (part_row < PART_ROWS) { emit(t, row, rstd * sums.xy + bias_pair(row), fetch(t, row)); }
  if (part_row + 32u < PART_ROWS) { emit(t, row + 32u, rstd * sums.zw + bias_pair(row + 32u), fetch(t, row + 32u)); }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token0 = group.y * TILE_TOKENS;
  let row0 = group.x * TILE_ROWS;
  let my_token = lid / 16u * 4u;   // of the tile: 4 in a run
  let my_row = lid % 16u * 2u;     // of the tile: a pair here and a pair 32 rows on
  let load_token = lid / 8u;       // and the one 16 on
  var sums0 = vec4(0.0);           // one for each token: rows my_row, + 1, + 32, + 33
  var sums1 = vec4(0.0);
  var sums2 = vec4(0.0);
  var sums3 = vec4(0.0);
  var square = vec2(0.0);
  for (var block = 0u; block < BLOCKS; block++) {
    square.x += load_x(token0, load_token, block, lid % 8u);
    square.y += load_x(token0, load_token + 16u, block, lid % 8u);
    if (lid < TILE_ROWS) { load_w(row0 + lid, block, lid * 8u); }
    workgroupBarrier();
    for (var i = 0u; i < 8u; i++) {
      let w0 = w_tile[my_row * 8u + i];
      let w1 = w_tile[(my_row + 1u) * 8u + i];
      let w2 = w_tile[(my_row + 32u) * 8u + i];
      let w3 = w_tile[(my_row + 33u) * 8u + i];
      let x0 = x_tile[my_token * 8u + i];
      let x1 = x_tile[(my_token + 1u) * 8u + i];
      let x2 = x_tile[(my_token + 2u) * 8u + i];
      let x3 = x_tile[(my_token + 3u) * 8u + i];
      sums0 += vec4(dot(x0, w0), dot(x0, w1), dot(x0, w2), dot(x0, w3));
      sums1 += vec4(dot(x1, w0), dot(x1, w1), dot(x1, w2), dot(x1, w3));
      sums2 += vec4(dot(x2, w0), dot(x2, w1), dot(x2, w2), dot(x2, w3));
      sums3 += vec4(dot(x3, w0), dot(x3, w1), dot(x3, w2), dot(x3, w3));
    }
    workgroupBarrier();
  }
  if (NORM) {
    squares[lid] = square.x;          // (token, quad) is the order of the threads
    squares[128u + lid] = square.y;
    workgroupBarrier();
  }
  finish(token0, my_token, row0 + my_row, sums0);
  finish(token0, my_token + 1u, row0 + my_row, sums1);
  finish(token0, my_token + 2u, row0 + my_row, sums2);
  finish(token0, my_token + 3u, row0 + my_row, sums3);
}
