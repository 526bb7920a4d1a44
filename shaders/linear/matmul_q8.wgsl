// y[t, row] = sum over blocks of 32 of d_w d_x (sum of q_w q_x) + bias[row]: matmul.wgsl with signed bytes on both
// sides. matmul_q8_scales_* says how scales of weights and activations take part.
// x was normed and quantized by elementwise/quantize_activations.wgsl. The bound weights are rows ROW0 .. ROW0 +
// PART_ROWS of ROWS.
//
// One workgroup makes TILE_TOKENS (x) by TILE_ROWS (y), a block of k at a time; a thread has 8 rows and 4 or 8 tokens
// of it. Where tiles are fewer than a GPU runs at once, K_SHARES sets of threads take every K_SHARES-th block each and
// add up at the end: a block waits for memory about as long, however few tokens there are. While the tile of one block
// is multiplied, the next is on its way from memory into registers; with two STAGES one barrier a block is enough. A
// thread does per block of k, 8 rows and 4 tokens: 256 dot4I8Packed, 24 reads of 16 bytes and 12 of 4 from workgroup
// memory, and 64 operations on floats where an fma rounds once, else 96. A GPU that does 64 of these dots a clock and
// reads 128 bytes needs half as long for the reads as for the dots, and less with 8 tokens, which share the reads of
// the rows. Neighboring threads alternate between tokens and rows (bits 0, 2, 4 and 1, 3 of the index): each half warp
// reads four words of 16 bytes in different banks.
// Constants: ROWS, ROW0, PART_ROWS, COLS, NORM (only where the bias starts), BIAS; ROW_THREADS, a multiple of 4,
// TOKEN_THREADS, of 8, TOKENS_EACH, STAGES, K_SHARES; ROUNDS_ONCE. Libraries: block, weights/* with quants, lowered,
// matmul_q8_scales_*, params.
// The epilogue defines fetch(token, row) and emit(token, row, y, fetched), row even; and
// finish_tokens(first_token, first_row, thread), which runs when all threads have emitted TOKENS_AT_ONCE tokens of
// TILE_ROWS rows; first_row counts from the first row of the part (finish_tokens_none).
const BLOCKS = COLS / 32u;
const TILE_ROWS = 8u * ROW_THREADS;
const TILE_TOKENS = TOKENS_EACH * TOKEN_THREADS;
const TOKENS_AT_ONCE = 4u * TOKEN_THREADS;              // tokens that are emitted at once
const THREADS = ROW_THREADS * TOKEN_THREADS;            // of a share of k
const TURNS = (BLOCKS + K_SHARES - 1u) / K_SHARES;
const SLOTS = STAGES * K_SHARES;                        // blocks in workgroup memory

// (BLOCKS, n_tokens, 2) bytes, then (BLOCKS, n_tokens) f32 d: neighboring threads read neighboring tokens
@group(0) @binding(2) var<storage, read> xq: array<vec4<u32>>;

// A block of 32 activations: elements 0 to 15, 16 to 31, and their scale.
struct XQuants { low: vec4<u32>, high: vec4<u32>, d: f32 }

// A thread's rows and tokens lie strides apart, each stride an array of its own: one index that the compiler has to
// bound, and constants beside it. Rows come in pairs, as emit wants them.
alias RowPairs = array<array<array<vec4<u32>, 2>, ROW_THREADS>, 4>;
alias TokenRuns = array<array<vec4<u32>, TOKEN_THREADS>, TOKENS_EACH>;
var<workgroup> w_low: array<RowPairs, SLOTS>;
var<workgroup> w_high: array<RowPairs, SLOTS>;
var<workgroup> w_d: array<array<array<array<Scale, 2>, ROW_THREADS>, 4>, SLOTS>;
var<workgroup> x_low: array<TokenRuns, SLOTS>;
var<workgroup> x_high: array<TokenRuns, SLOTS>;
var<workgroup> x_d: array<array<array<XScale, TOKEN_THREADS>, TOKENS_EACH>, SLOTS>;
// Sums on their way among the shares of k.
var<workgroup> share_sums: array<array<vec4<f32>, select(1u, THREADS, K_SHARES > 1u)>, K_SHARES>;

// A block of a token; past the last block, one that counts for nothing.
fn load_x(token: u32, block: u32) -> XQuants {
  let at = min(block, BLOCKS - 1u) * step.n_tokens + token;
  let d = step.n_tokens * BLOCKS * 8u + at;   // in words
  let is_past = BLOCKS % K_SHARES != 0u && block >= BLOCKS;
  return XQuants(xq[at * 2u], xq[at * 2u + 1u], select(bitcast<f32>(xq[d >> 2u][d & 3u]), 0.0, is_past));
}

fn stage_weights(slot: u32, row: u32, q: Quants) {
  let run = row / (2u * ROW_THREADS);
  let pair = row / 2u % ROW_THREADS;
  w_low[slot][run][pair][row % 2u] = q.low;
  w_high[slot][run][pair][row % 2u] = q.high;
  w_d[slot][run][pair][row % 2u] = q.d;
}

fn stage_x(slot: u32, token: u32, q: XQuants) {
  let run = token / TOKEN_THREADS;
  let at = token % TOKEN_THREADS;
  x_low[slot][run][at] = q.low;
  x_high[slot][run][at] = q.high;
  x_d[slot][run][at] = x_scale(q);
}

fn row_at(slot: u32, run: u32, pair: u32, odd: u32) -> Quants {
  return Quants(w_low[slot][run][pair][odd], w_high[slot][run][pair][odd], w_d[slot][run][pair][odd]);
}

// Four tokens, TOKEN_THREADS apart, by name: an array would land in memory on some devices.
struct Tokens {
  low0: vec4<u32>, low1: vec4<u32>, low2: vec4<u32>, low3: vec4<u32>,
  high0: vec4<u32>, high1: vec4<u32>, high2: vec4<u32>, high3: vec4<u32>,
  d: XScales,
}

fn tokens_at(slot: u32, run: u32, at: u32) -> Tokens {
  return Tokens(
    x_low[slot][run][at], x_low[slot][run + 1u][at], x_low[slot][run + 2u][at], x_low[slot][run + 3u][at],
    x_high[slot][run][at], x_high[slot][run + 1u][at], x_high[slot][run + 2u][at], x_high[slot][run + 3u][at],
    x_scales(x_d[slot][run][at], x_d[slot][run + 1u][at], x_d[slot][run + 2u][at], x_d[slot][run + 3u][at]),
  );
}

// The sums of four tokens and the eight rows of a thread.
struct Sums {
  r0: vec4<f32>, r1: vec4<f32>, r2: vec4<f32>, r3: vec4<f32>,
  r4: vec4<f32>, r5: vec4<f32>, r6: vec4<f32>, r7: vec4<f32>,
}

// Adds one block of k. A pair of rows is read before the pair in front of it is used, and no more: registers are few.
fn add_block(s: Sums, slot: u32, pair: u32, x: Tokens) -> Sums {
  let w0 = row_at(slot, 0u, pair, 0u);
  let w1 = row_at(slot, 0u, pair, 1u);
  let w2 = row_at(slot, 1u, pair, 0u);
  let w3 = row_at(slot, 1u, pair, 1u);
  let r0 = s.r0 + products(w0, x);
  let r1 = s.r1 + products(w1, x);
  let w4 = row_at(slot, 2u, pair, 0u);
  let w5 = row_at(slot, 2u, pair, 1u);
  let r2 = s.r2 + products(w2, x);
  let r3 = s.r3 + products(w3, x);
  let w6 = row_at(slot, 3u, pair, 0u);
  let w7 = row_at(slot, 3u, pair, 1u);
  let r4 = s.r4 + products(w4, x);
  let r5 = s.r5 + products(w5, x);
  return Sums(r0, r1, r2, r3, r4, r5, s.r6 + products(w6, x), s.r7 + products(w7, x));
}

// The sums over all shares of k, in their order. Each row in turn is the first, so that the code is written out once.
fn add_shares(sums: Sums, share: u32, thread: u32) -> Sums {
  var s = sums;
  for (var row = 0u; row < 8u; row++) {
    share_sums[share][thread] = s.r0;
    workgroupBarrier();
    var sum = share_sums[0][thread];
    for (var i = 1u; i < K_SHARES; i++) { sum += share_sums[i][thread]; }
    s = Sums(s.r1, s.r2, s.r3, s.r4, s.r5, s.r6, s.r7, sum);
    workgroupBarrier();
  }
  return s;
}

// Emits four tokens of eight rows, pairs of rows in turn by the shares of k. The pairs move down to the first, so that
// emit is written out once.
fn emit_tokens(token: u32, first_row: u32, sums: Sums, share: u32) {
  var s = sums;
  for (var pair = 0u; pair < 4u; pair++) {
    let part_row = first_row + pair * 2u * ROW_THREADS;
    if (pair % K_SHARES == share && part_row < PART_ROWS) {
      let row = ROW0 + part_row;
      let bias = bias_pair(row);
      // All reads come before all writes: a read behind a write to the same buffer would wait for the write.
      var fetched: array<vec2<f32>, 4>;
      for (var i = 0u; i < 4u; i++) { fetched[i] = fetch(min(token + i * TOKEN_THREADS, step.n_tokens - 1u), row); }
      for (var i = 0u; i < 4u; i++) {
        let t = token + i * TOKEN_THREADS;
        if (t < step.n_tokens) { emit(t, row, vec2(s.r0[i], s.r1[i]) + bias, fetched[i]); }
      }
    }
    s = Sums(s.r2, s.r3, s.r4, s.r5, s.r6, s.r7, s.r6, s.r7);
  }
}

@compute @workgroup_size(THREADS * K_SHARES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let share = index / THREADS;
  let lid = index % THREADS;
  let token0 = group.x * TILE_TOKENS;
  let row0 = group.y * TILE_ROWS;
  let warp = lid / 32u;
  let my_token = warp / (ROW_THREADS / 4u) * 8u + lid / 16u % 2u * 4u + lid / 4u % 2u * 2u + lid % 2u;
  let my_pair = warp % (ROW_THREADS / 4u) * 4u + lid / 8u % 2u * 2u + lid / 2u % 2u;
  // The first threads carry a row each, the last ones a token each; past the end the last row or token again.
  let x_lane = THREADS - 1u - lid;
  let w_from = min(row0 + lid, PART_ROWS - 1u) * BLOCKS;
  let x_token = min(token0 + x_lane, step.n_tokens - 1u);
  var w: Packed;
  var x: XQuants;
  if (lid < TILE_ROWS) { w = load_packed(w_from + min(share, BLOCKS - 1u)); }
  if (x_lane < TILE_TOKENS) { x = load_x(x_token, share); }
  var near = Sums();   // of the first four tokens of a thread
  var far = Sums();    // of the other four, when TOKENS_EACH is 8
  for (var turn = 0u; turn < TURNS; turn++) {
    let slot = turn % STAGES * K_SHARES + share;
    if (lid < TILE_ROWS) { stage_weights(slot, lid, unpack(w)); }
    if (x_lane < TILE_TOKENS) { stage_x(slot, x_lane, x); }
    workgroupBarrier();
    let next = (turn + 1u) * K_SHARES + share;
    if (lid < TILE_ROWS) { w = load_packed(w_from + min(next, BLOCKS - 1u)); }
    if (x_lane < TILE_TOKENS) { x = load_x(x_token, next); }
    near = add_block(near, slot, my_pair, tokens_at(slot, 0u, my_token));
    if (TOKENS_EACH == 8u) { far = add_block(far, slot, my_pair, tokens_at(slot, 4u, my_token)); }
    if (STAGES == 1u) { workgroupBarrier(); }
  }
  for (var four = 0u; four < TOKENS_EACH; four += 4u) {
    if (K_SHARES > 1u) { near = add_shares(near, share, lid); }
    emit_tokens(token0 + my_token + four * TOKEN_THREADS, row0 + 2u * my_pair, near, share);
    finish_tokens(token0 + four * TOKEN_THREADS, row0, index);
    near = far;
  }
}
