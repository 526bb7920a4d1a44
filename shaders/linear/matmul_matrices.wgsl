// y[t, row] = sum_k w[row, k] x[t, k] + bias[row] on subgroup matrices of signed bytes: matmul_q8.wgsl for many tokens.
// A product of matrices cannot scale every 32 columns, so both sides are integers of 16 bits that need one scale each:
// w = D_row v with v = s (q - 8), s = round(d / D_row) of 13 bits and its sign; x as quantize_wide.wgsl leaves it.
// With v = 256 high + low on either side, bytes all of them,
//   y = D_row D_t (2^16 sum high high + 2^8 sum (high low + low high)),
// and what is left out, sum low low, is 1 / 2^16 of what counts. Sums stay exact in i32 for 66,000 columns.
//
// A workgroup makes 32 ROW_GROUPS rows by 32 TOKEN_GROUPS tokens, 64 columns at a time; a subgroup 32 by 32 of it.
// While one turn is multiplied, the next is on its way from memory into registers. Rows of a tile are 20 words apart,
// so that eight of them lie in different banks. Where the offset of a matrix is a constant, no check of bounds
// surrounds its load: each group of rows or tokens is an array of its own.
// Constants: ROWS, ROW0, PART_ROWS, COLS, a multiple of 64, NORM (only where the bias starts), BIAS; ROW_GROUPS, 2 or
// 4; TOKEN_GROUPS is 4. Libraries: block, weights/q4 with quants and block_scale, params.
// The epilogue defines fetch(token, row) and emit(token, row, y, fetched), row even.
const BLOCKS = COLS / 32u;
const TOKEN_GROUPS = 4u;
const THREADS = 32u * ROW_GROUPS * TOKEN_GROUPS;
const TILE_ROWS = 32u * ROW_GROUPS;
const TILE_TOKENS = 32u * TOKEN_GROUPS;
const STEP_WORDS = 16u;                      // of four columns
const STRIDE = STEP_WORDS + 4u;
const LOW = 32u * STRIDE;                    // the low bytes of a group stand behind the high ones
const GROUP_WORDS = 2u * LOW;
const ROW_LANES = THREADS / TILE_ROWS;       // threads that look for the largest scale of a row
const AT_ONCE = THREADS / STEP_WORDS;        // tokens that the threads fetch at once, a word each
const BIAS_16 = 32896u;                      // 2^15 + 2^7: both bytes are unsigned then
const LARGEST = 4079.0;                      // 8 times as much, less BIAS_16, still fits 16 bits

alias Left = subgroup_matrix_left<i8, 32, 16>;
alias Right = subgroup_matrix_right<i8, 16, 32>;
alias Sum = subgroup_matrix_result<i32, 16, 16>;

// (n_tokens, COLS / 4) words of high bytes, the same of low bytes, then (n_tokens) f32 d
@group(0) @binding(2) var<storage, read> xq: array<u32>;

var<workgroup> w_tile: array<array<i32, GROUP_WORDS>, ROW_GROUPS>;
var<workgroup> x_tile: array<array<i32, GROUP_WORDS>, TOKEN_GROUPS>;
var<workgroup> row_d: array<f32, TILE_ROWS>;

// D of each row: its largest scale over LARGEST. By their bits, so that a NaN is the largest. Several words at a time.
fn find_row_d(row0: u32, lid: u32) {
  const WORDS = BLOCKS / 2u;
  let row = lid / ROW_LANES;
  let first = min(row0 + row, PART_ROWS - 1u) * WORDS;
  var most = 0u;
  for (var at = lid % ROW_LANES; at < WORDS; at += 4u * ROW_LANES) {
    let a = scales[first + at];
    let b = scales[first + min(at + ROW_LANES, WORDS - 1u)];
    let c = scales[first + min(at + 2u * ROW_LANES, WORDS - 1u)];
    let d = scales[first + min(at + 3u * ROW_LANES, WORDS - 1u)];
    let low = vec4(a, b, c, d) & vec4(0x7fffu);
    let high = (vec4(a, b, c, d) >> vec4(16u)) & vec4(0x7fffu);
    let all = max(low, high);
    most = max(most, max(max(all.x, all.y), max(all.z, all.w)));
  }
  for (var lanes = 1u; lanes < ROW_LANES; lanes *= 2u) { most = max(most, subgroupShuffleXor(most, lanes)); }
  if (lid % ROW_LANES == 0u) { row_d[row] = unpack2x16float(most).x / LARGEST; }
}

// Eight words of x: high and low of four tokens.
struct XWords { high: vec4<u32>, low: vec4<u32> }

fn x_word(token: u32, word: u32) -> u32 { return xq[min(token, step.n_tokens - 1u) * (COLS / 4u) + word]; }

fn load_x(token: u32, word: u32) -> XWords {
  let low = step.n_tokens * (COLS / 4u) + word;
  return XWords(
    vec4(x_word(token, word), x_word(token + AT_ONCE, word), x_word(token + 2u * AT_ONCE, word), x_word(token + 3u * AT_ONCE, word)),
    vec4(x_word(token, low), x_word(token + AT_ONCE, low), x_word(token + 2u * AT_ONCE, low), x_word(token + 3u * AT_ONCE, low)),
  );
}

fn stage_x_word(token: u32, at: u32, high: u32, low: u32) {
  x_tile[token / 32u][token % 32u * STRIDE + at] = i32(high);
  x_tile[token / 32u][token % 32u * STRIDE + at + LOW] = i32(low);
}

// `first` is a constant of the caller; `at` is the place of the thread in its AT_ONCE tokens.
fn stage_x(first: u32, at: u32, x: XWords) {
  stage_x_word(first, at, x.high.x, x.low.x);
  stage_x_word(first + AT_ONCE, at, x.high.y, x.low.y);
  stage_x_word(first + 2u * AT_ONCE, at, x.high.z, x.low.z);
  stage_x_word(first + 3u * AT_ONCE, at, x.high.w, x.low.w);
}

// Eight nibbles of a row, and the scale of their block.
struct WWord { q: u32, d: f32 }

fn load_w(at: u32, lane: u32) -> WWord {
  let block = at + lane / 4u;
  return WWord(weights[block][lane % 4u], scale_of(scale_pair(block), block));
}

// Nibbles 0 and 2, and 1 and 3, of four neighbors: v + BIAS_16 in 16 bits each, without a carry between them; the bytes
// become signed by their top bits.
fn stage_w_quad(group: u32, at: u32, even: u32, odd: u32, s: u32) {
  let bias = (BIAS_16 - 8u * s) * 0x10001u;
  let a = (even * s + bias) ^ 0x80808080u;
  let b = (odd * s + bias) ^ 0x80808080u;
  w_tile[group][at] = i32(((a >> 8u) & 0x00ff00ffu) | (b & 0xff00ff00u));
  w_tile[group][at + LOW] = i32((a & 0x00ff00ffu) | ((b << 8u) & 0xff00ff00u));
}

// `scale` is 1 / D of the row.
fn stage_w(group: u32, at: u32, w: WWord, scale: f32) {
  let s = u32(i32(round(w.d * scale)));
  let mask = 0x000f000fu;
  stage_w_quad(group, at, w.q & mask, (w.q >> 8u) & mask, s);
  stage_w_quad(group, at + 4u, (w.q >> 4u) & mask, (w.q >> 12u) & mask, s);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token0 = group.x * TILE_TOKENS;
  let row0 = group.y * TILE_ROWS;
  let lane = lid % 32u;
  let rows = lid / 32u / TOKEN_GROUPS;         // the groups of this subgroup
  let tokens = lid / 32u % TOKEN_GROUPS;
  // A thread carries a word of a row in the upper half of the tile, one in the lower half, and words of x.
  let w_lane = lid % 8u;
  let w_row = lid / 8u;
  let w_group = w_row / 32u;
  let w_at = w_row % 32u * STRIDE + w_lane / 4u * 8u + w_lane % 4u;
  let w_first = min(row0 + w_row, PART_ROWS - 1u) * BLOCKS;
  let w_second = min(row0 + w_row + TILE_ROWS / 2u, PART_ROWS - 1u) * BLOCKS;
  let x_token = token0 + lid / STEP_WORDS;
  let x_lane = lid % STEP_WORDS;
  let x_at = lid / STEP_WORDS * STRIDE + x_lane;

  var w0 = load_w(w_first, w_lane);
  var w1 = load_w(w_second, w_lane);
  var x0 = load_x(x_token, x_lane);
  var x1: XWords;
  if (ROW_GROUPS == 2u) { x1 = load_x(x_token + 4u * AT_ONCE, x_lane); }
  find_row_d(row0, lid);   // while the first turn is on its way
  workgroupBarrier();
  let d = vec2(row_d[w_row], row_d[w_row + TILE_ROWS / 2u]);
  let scale = select(1.0 / d, vec2(0.0), d == vec2(0.0));

  var high00: Sum; var high01: Sum; var high10: Sum; var high11: Sum;   // rows, tokens: 16 of each
  var both00: Sum; var both01: Sum; var both10: Sum; var both11: Sum;   // high low + low high
  for (var turn = 0u; turn < COLS / 64u; turn++) {
    stage_w(w_group, w_at, w0, scale.x);
    stage_w(w_group + ROW_GROUPS / 2u, w_at, w1, scale.y);
    stage_x(0u, x_at, x0);
    if (ROW_GROUPS == 2u) { stage_x(4u * AT_ONCE, x_at, x1); }
    workgroupBarrier();
    let next = min(turn + 1u, COLS / 64u - 1u);
    w0 = load_w(w_first + 2u * next, w_lane);
    w1 = load_w(w_second + 2u * next, w_lane);
    x0 = load_x(x_token, x_lane + STEP_WORDS * next);
    if (ROW_GROUPS == 2u) { x1 = load_x(x_token + 4u * AT_ONCE, x_lane + STEP_WORDS * next); }
    {   // the first 32 columns; where both sides have low bytes, nothing
      let x_high0 = subgroupMatrixLoad<Right, col_major>(&x_tile[tokens], 0u, STRIDE);
      let x_high1 = subgroupMatrixLoad<Right, col_major>(&x_tile[tokens], 16u * STRIDE, STRIDE);
      let x_low0 = subgroupMatrixLoad<Right, col_major>(&x_tile[tokens], LOW, STRIDE);
      let x_low1 = subgroupMatrixLoad<Right, col_major>(&x_tile[tokens], LOW + 16u * STRIDE, STRIDE);
      let w_high0 = subgroupMatrixLoad<Left, row_major>(&w_tile[rows], 0u, STRIDE);
      let w_low0 = subgroupMatrixLoad<Left, row_major>(&w_tile[rows], LOW, STRIDE);
      high00 = subgroupMatrixMultiplyAccumulate(w_high0, x_high0, high00);
      high01 = subgroupMatrixMultiplyAccumulate(w_high0, x_high1, high01);
      both00 = subgroupMatrixMultiplyAccumulate(w_high0, x_low0, both00);
      both01 = subgroupMatrixMultiplyAccumulate(w_high0, x_low1, both01);
      both00 = subgroupMatrixMultiplyAccumulate(w_low0, x_high0, both00);
      both01 = subgroupMatrixMultiplyAccumulate(w_low0, x_high1, both01);
      let w_high1 = subgroupMatrixLoad<Left, row_major>(&w_tile[rows], 16u * STRIDE, STRIDE);
      let w_low1 = subgroupMatrixLoad<Left, row_major>(&w_tile[rows], LOW + 16u * STRIDE, STRIDE);
      high10 = subgroupMatrixMultiplyAccumulate(w_high1, x_high0, high10);
      high11 = subgroupMatrixMultiplyAccumulate(w_high1, x_high1, high11);
      both10 = subgroupMatrixMultiplyAccumulate(w_high1, x_low0, both10);
      both11 = subgroupMatrixMultiplyAccumulate(w_high1, x_low1, both11);
      both10 = subgroupMatrixMultiplyAccumulate(w_low1, x_high0, both10);
      both11 = subgroupMatrixMultiplyAccumulate(w_low1, x_high1, both11);
    }
    {   // the other 32, once more: in a loop their offset would be no constant
      let x_high0 = subgroupMatrixLoad<Right, col_major>(&x_tile[tokens], 8u, STRIDE);
      let x_high1 = subgroupMatrixLoad<Right, col_major>(&x_tile[tokens], 8u + 16u * STRIDE, STRIDE);
      let x_low0 = subgroupMatrixLoad<Right, col_major>(&x_tile[tokens], 8u + LOW, STRIDE);
      let x_low1 = subgroupMatrixLoad<Right, col_major>(&x_tile[tokens], 8u + LOW + 16u * STRIDE, STRIDE);
      let w_high0 = subgroupMatrixLoad<Left, row_major>(&w_tile[rows], 8u, STRIDE);
      let w_low0 = subgroupMatrixLoad<Left, row_major>(&w_tile[rows], 8u + LOW, STRIDE);
      high00 = subgroupMatrixMultiplyAccumulate(w_high0, x_high0, high00);
      high01 = subgroupMatrixMultiplyAccumulate(w_high0, x_high1, high01);
      both00 = subgroupMatrixMultiplyAccumulate(w_high0, x_low0, both00);
      both01 = subgroupMatrixMultiplyAccumulate(w_high0, x_low1, both01);
      both00 = subgroupMatrixMultiplyAccumulate(w_low0, x_high0, both00);
      both01 = subgroupMatrixMultiplyAccumulate(w_low0, x_high1, both01);
      let w_high1 = subgroupMatrixLoad<Left, row_major>(&w_tile[rows], 8u + 16u * STRIDE, STRIDE);
      let w_low1 = subgroupMatrixLoad<Left, row_major>(&w_tile[rows], 8u + LOW + 16u * STRIDE, STRIDE);
      high10 = subgroupMatrixMultiplyAccumulate(w_high1, x_high0, high10);
      high11 = subgroupMatrixMultiplyAccumulate(w_high1, x_high1, high11);
      both10 = subgroupMatrixMultiplyAccumulate(w_high1, x_low0, both10);
      both11 = subgroupMatrixMultiplyAccumulate(w_high1, x_low1, both11);
      both10 = subgroupMatrixMultiplyAccumulate(w_low1, x_high0, both10);
      both11 = subgroupMatrixMultiplyAccumulate(w_low1, x_high1, both11);
    }
    workgroupBarrier();
  }

  // The sums leave by way of the tiles, 16 rows and tokens of a subgroup at a time; the next ones take the place of the
  // first, so that emit is written out once.
  for (var part = 0u; part < 4u; part++) {
    subgroupMatrixStore<col_major>(&w_tile[rows], tokens * 256u, high00, 16u);
    subgroupMatrixStore<col_major>(&x_tile[tokens], rows * 256u, both00, 16u);
    workgroupBarrier();
    for (var i = lane; i < 128u; i += 32u) {
      let own = 2u * (i % 8u);
      let at = i / 8u * 16u + own;
      let tile_row = 32u * rows + part / 2u * 16u + own;
      let part_row = row0 + tile_row;
      let token = token0 + 32u * tokens + part % 2u * 16u + i / 8u;
      if (part_row < PART_ROWS && token < step.n_tokens) {
        let row = ROW0 + part_row;
        let high = vec2(w_tile[rows][tokens * 256u + at], w_tile[rows][tokens * 256u + at + 1u]);
        let both = vec2(x_tile[tokens][rows * 256u + at], x_tile[tokens][rows * 256u + at + 1u]);
        let d_x = bitcast<f32>(xq[step.n_tokens * (COLS / 2u) + token]);
        let y = (256.0 * vec2<f32>(high) + vec2<f32>(both)) * (256.0 * d_x) * vec2(row_d[tile_row], row_d[tile_row + 1u]);
        emit(token, row, y + bias_pair(row), fetch(token, row));
      }
    }
    workgroupBarrier();
    high00 = high01; high01 = high10; high10 = high11;
    both00 = both01; both01 = both10; both10 = both11;
  }
}
