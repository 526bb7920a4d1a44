// y[t, row] = sum over blocks of 32 of d_w d_x (sum of q_w q_x) + bias[row]: matmul.wgsl with signed bytes on both
// sides. matmul_q8_scales_* says how scales of weights and activations take part.
// x was normed and quantized by elementwise/quantize_activations.wgsl. The bound weights are rows ROW0 .. ROW0 +
// PART_ROWS of ROWS.
//
// One workgroup makes TILE_TOKENS (x) by TILE_ROWS (y), a block of k at a time; a thread has 8 rows and 4 or 8 tokens
// of it. While the tile of one block is multiplied, the next is on its way from memory into registers; with two STAGES
// one barrier a block is enough. A thread does per block of k, 8 rows and 4 tokens: 256 dot4I8Packed, 24 reads of 16
// bytes and 12 of 4 from workgroup memory, 128 operations on floats. A GPU that does 64 of these dots a clock and reads
// 128 bytes needs half as long for the reads as for the dots, and less with 8 tokens, which share the reads of the
// rows. Neighboring threads alternate between tokens and rows (bits 0, 2, 4 and 1, 3 of the index): each half warp
// reads four words of 16 bytes in different banks.
// Constants: ROWS, ROW0, PART_ROWS, COLS, NORM (only where the bias starts), BIAS; ROW_THREADS, a multiple of 4,
// TOKEN_THREADS, of 8, TOKENS_EACH, STAGES. Libraries: block, weights/* with quants, matmul_q8_scales_*, params.
// The epilogue defines fetch(token, row) and emit(token, row, y, fetched), row even.
const BLOCKS = COLS / 32u;
const TILE_ROWS = 8u * ROW_THREADS;
const TILE_TOKENS = TOKENS_EACH * TOKEN_THREADS;
const THREADS = ROW_THREADS * TOKEN_THREADS;

// (n_tokens, BLOCKS, 2) bytes, then (n_tokens, BLOCKS) f32 d
@group(0) @binding(2) var<storage, read> xq: array<vec4<u32>>;

// A block of 32 activations: elements 0 to 15, 16 to 31, and their scale.
struct XQuants { low: vec4<u32>, high: vec4<u32>, d: f32 }

// A thread's rows and tokens lie strides apart, each stride an array of its own: one index that the compiler has to
// bound, and constants beside it. Rows come in pairs, as emit wants them.
alias RowPairs = array<array<array<vec4<u32>, 2>, ROW_THREADS>, 4>;
alias TokenRuns = array<array<vec4<u32>, TOKEN_THREADS>, TOKENS_EACH>;
var<workgroup> w_low: array<RowPairs, STAGES>;
var<workgroup> w_high: array<RowPairs, STAGES>;
var<workgroup> w_d: array<array<array<array<Scale, 2>, ROW_THREADS>, 4>, STAGES>;
var<workgroup> x_low: array<TokenRuns, STAGES>;
var<workgroup> x_high: array<TokenRuns, STAGES>;
var<workgroup> x_d: array<array<array<XScale, TOKEN_THREADS>, TOKENS_EACH>, STAGES>;

fn load_x(block: u32) -> XQuants {
  let d = step.n_tokens * BLOCKS * 8u + block;   // in words
  return XQuants(xq[block * 2u], xq[block * 2u + 1u], bitcast<f32>(xq[d >> 2u][d & 3u]));
}

fn stage_weights(stage: u32, row: u32, q: Quants) {
  let run = row / (2u * ROW_THREADS);
  let pair = row / 2u % ROW_THREADS;
  w_low[stage][run][pair][row % 2u] = q.low;
  w_high[stage][run][pair][row % 2u] = q.high;
  w_d[stage][run][pair][row % 2u] = q.d;
}

fn stage_x(stage: u32, token: u32, q: XQuants) {
  let run = token / TOKEN_THREADS;
  let at = token % TOKEN_THREADS;
  x_low[stage][run][at] = q.low;
  x_high[stage][run][at] = q.high;
  x_d[stage][run][at] = x_scale(q);
}

fn row_at(stage: u32, run: u32, pair: u32, odd: u32) -> Quants {
  return Quants(w_low[stage][run][pair][odd], w_high[stage][run][pair][odd], w_d[stage][run][pair][odd]);
}

// Four tokens, TOKEN_THREADS apart, by name: an array would land in memory on some devices.
struct Tokens {
  low0: vec4<u32>, low1: vec4<u32>, low2: vec4<u32>, low3: vec4<u32>,
  high0: vec4<u32>, high1: vec4<u32>, high2: vec4<u32>, high3: vec4<u32>,
  d: XScales,
}

fn tokens_at(stage: u32, run: u32, at: u32) -> Tokens {
  return Tokens(
    x_low[stage][run][at], x_low[stage][run + 1u][at], x_low[stage][run + 2u][at], x_low[stage][run + 3u][at],
    x_high[stage][run][at], x_high[stage][run + 1u][at], x_high[stage][run + 2u][at], x_high[stage][run + 3u][at],
    x_scales(x_d[stage][run][at], x_d[stage][run + 1u][at], x_d[stage][run + 2u][at], x_d[stage][run + 3u][at]),
  );
}

// The sums of four tokens and the eight rows of a thread.
struct Sums {
  r0: vec4<f32>, r1: vec4<f32>, r2: vec4<f32>, r3: vec4<f32>,
  r4: vec4<f32>, r5: vec4<f32>, r6: vec4<f32>, r7: vec4<f32>,
}

// Adds one block of k. A pair of rows is read before the pair in front of it is used, and no more: registers are few.
fn add_block(s: Sums, stage: u32, pair: u32, x: Tokens) -> Sums {
  let w0 = row_at(stage, 0u, pair, 0u);
  let w1 = row_at(stage, 0u, pair, 1u);
  let w2 = row_at(stage, 1u, pair, 0u);
  let w3 = row_at(stage, 1u, pair, 1u);
  let r0 = s.r0 + products(w0, x);
  let r1 = s.r1 + products(w1, x);
  let w4 = row_at(stage, 2u, pair, 0u);
  let w5 = row_at(stage, 2u, pair, 1u);
  let r2 = s.r2 + products(w2, x);
  let r3 = s.r3 + products(w3, x);
  let w6 = row_at(stage, 3u, pair, 0u);
  let w7 = row_at(stage, 3u, pair, 1u);
  let r4 = s.r4 + products(w4, x);
  let r5 = s.r5 + products(w5, x);
  return Sums(r0, r1, r2, r3, r4, r5, s.r6 + products(w6, x), s.r7 + products(w7, x));
}

// Emits four tokens of eight rows. The pairs of rows move down to the first, so that emit is written out once.
fn finish(token: u32, first_row: u32, sums: Sums) {
  var s = sums;
  for (var part_row = first_row; part_row < first_row + 8u * ROW_THREADS; part_row += 2u * ROW_THREADS) {
    if (part_row < PART_ROWS) {
      let row = ROW0 + part_row;
      let bias = bias_pair(row);
      for (var i = 0u; i < 4u; i++) {
        let t = token + i * TOKEN_THREADS;
        if (t < step.n_tokens) { emit(t, row, vec2(s.r0[i], s.r1[i]) + bias, fetch(t, row)); }
      }
    }
    s = Sums(s.r2, s.r3, s.r4, s.r5, s.r6, s.r7, s.r6, s.r7);
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token0 = group.x * TILE_TOKENS;
  let row0 = group.y * TILE_ROWS;
  let warp = lid / 32u;
  let my_token = warp / (ROW_THREADS / 4u) * 8u + lid / 16u % 2u * 4u + lid / 4u % 2u * 2u + lid % 2u;
  let my_pair = warp % (ROW_THREADS / 4u) * 4u + lid / 8u % 2u * 2u + lid / 2u % 2u;
  // The first threads carry a row each, the last ones a token each; past the end the last row or token again.
  let x_lane = THREADS - 1u - lid;
  let w_from = min(row0 + lid, PART_ROWS - 1u) * BLOCKS;
  let x_from = min(token0 + x_lane, step.n_tokens - 1u) * BLOCKS;
  var w: Packed;
  var x: XQuants;
  if (lid < TILE_ROWS) { w = load_packed(w_from); }
  if (x_lane < TILE_TOKENS) { x = load_x(x_from); }
  var near = Sums();   // of the first four tokens of a thread
  var far = Sums();    // of the other four, when TOKENS_EACH is 8
  for (var block = 0u; block < BLOCKS; block++) {
    let stage = block % STAGES;
    if (lid < TILE_ROWS) { stage_weights(stage, lid, unpack(w)); }
    if (x_lane < TILE_TOKENS) { stage_x(stage, x_lane, x); }
    workgroupBarrier();
    let next = min(block + 1u, BLOCKS - 1u);
    if (lid < TILE_ROWS) { w = load_packed(w_from + next); }
    if (x_lane < TILE_TOKENS) { x = load_x(x_from + next); }
    near = add_block(near, stage, my_pair, tokens_at(stage, 0u, my_token));
    if (TOKENS_EACH == 8u) { far = add_block(far, stage, my_pair, tokens_at(stage, 4u, my_token)); }
    if (STAGES == 1u) { workgroupBarrier(); }
  }
  for (var token = my_token; token < TILE_TOKENS; token += 4u * TOKEN_THREADS) {
    finish(token0 + token, row0 + 2u * my_pair, near);
    near = far;
  }
}
