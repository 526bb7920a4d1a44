// y[t, row] = rstd[t] * sum_k weights[row, k] * norm[k] * x[t, k] + bias[row]: matvec.wgsl for many tokens at once.
// One workgroup of 64 threads makes a tile of 64 tokens (y) x 64 rows (x), 32 columns (one block) at a time, each
// thread 8 tokens x 8 rows, whose 256 products of a quad take 16 reads of workgroup memory. While a block is
// multiplied, the next is on its way from memory into registers. The sum of squares of a token is gathered while its
// tile is staged. Neighboring threads alternate between tokens and rows (bits 0, 2, 4 and 1, 3 of the index): each half
// warp reads four words of 16 bytes in different banks. The bound weights are rows ROW0 .. ROW0 + PART_ROWS of ROWS.
// SKIP_EMPTY: a thread leaves out its tokens past the end, which pays where no loop is written out, as on the CPU.
// Constants: ROWS, ROW0, PART_ROWS, COLS, NORM, BIAS, EPS, SKIP_EMPTY. Libraries: weights/*, params.
// The epilogue defines fetch(token, row) and emit(token, row, y, fetched), row even.
const BLOCKS = COLS / 32u;
const TILE = 64u;

@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;    // (n_tokens, COLS / 4)

// (quad, place): token t at t ^ quad, so that neither the writes nor the reads of neighbors meet in a bank; the even
// rows, then the odd ones.
var<workgroup> x_tile: array<vec4<f32>, 8u * TILE>;
var<workgroup> w_tile: array<vec4<f32>, 8u * TILE>;

// Quad lid % 8 of a block of eight tokens, 8 apart.
alias Quads = array<vec4<f32>, 8>;
// (8 tokens, 2): of each token two pairs of rows, and two more.
alias Sums = array<vec4<f32>, 16>;

// Zeros past the last token.
fn load_x(token: u32, quad: u32) -> Quads {
  var quads: Quads;
  for (var i = 0u; i < 8u; i++) {
    if (token + 8u * i < step.n_tokens) { quads[i] = x[(token + 8u * i) * BLOCKS * 8u + quad]; }
  }
  return quads;
}

// Stages the quads, normed but for rstd. Adds their squares.
fn stage_x(quads: Quads, lid: u32, block: u32, squares: ptr<function, array<f32, 8>>) {
  let quad = lid % 8u;
  var norm = vec4(1.0);
  if (NORM) { norm = norm_quad(block * 8u + quad); }
  for (var i = 0u; i < 8u; i++) {
    let value = quads[i];
    if (NORM) { (*squares)[i] += dot(value, value); }
    x_tile[quad * TILE + ((lid / 8u) ^ quad) + 8u * i] = value * norm;
  }
}

fn stage_w(packed: Packed, place: u32) {
  let w = dequantize(packed);
  w_tile[place] = w.a;
  w_tile[place + TILE] = w.b;
  w_tile[place + 2u * TILE] = w.c;
  w_tile[place + 3u * TILE] = w.d;
  w_tile[place + 4u * TILE] = w.e;
  w_tile[place + 5u * TILE] = w.f;
  w_tile[place + 6u * TILE] = w.g;
  w_tile[place + 7u * TILE] = w.h;
}

// The products of one quad of four rows, which come by columns.
fn products(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>, x: vec4<f32>, sum: vec4<f32>) -> vec4<f32> {
  return sum + a * x.x + b * x.y + c * x.z + d * x.w;
}

fn add_block(sums: ptr<function, Sums>, token: u32, pair: u32, n_live: u32) {
  for (var quad = 0u; quad < 8u; quad++) {
    let at = quad * TILE + pair;
    let w0 = w_tile[at];
    let w1 = w_tile[at + 32u];
    let w2 = w_tile[at + 8u];
    let w3 = w_tile[at + 40u];
    let w4 = w_tile[at + 16u];
    let w5 = w_tile[at + 48u];
    let w6 = w_tile[at + 24u];
    let w7 = w_tile[at + 56u];
    let a0 = vec4(w0.x, w1.x, w2.x, w3.x);
    let b0 = vec4(w0.y, w1.y, w2.y, w3.y);
    let c0 = vec4(w0.z, w1.z, w2.z, w3.z);
    let d0 = vec4(w0.w, w1.w, w2.w, w3.w);
    let a1 = vec4(w4.x, w5.x, w6.x, w7.x);
    let b1 = vec4(w4.y, w5.y, w6.y, w7.y);
    let c1 = vec4(w4.z, w5.z, w6.z, w7.z);
    let d1 = vec4(w4.w, w5.w, w6.w, w7.w);
    for (var i = 0u; i < 8u; i++) {
      if (SKIP_EMPTY && i >= n_live) { break; }
      let value = x_tile[quad * TILE + (token ^ quad) + 8u * i];
      (*sums)[2u * i] = products(a0, b0, c0, d0, value, (*sums)[2u * i]);
      (*sums)[2u * i + 1u] = products(a1, b1, c1, d1, value, (*sums)[2u * i + 1u]);
    }
  }
}

fn emit_pair(token: u32, part_row: u32, y: vec2<f32>) {
  let row = ROW0 + part_row;
  if (part_row < PART_ROWS) { emit(token, row, y + bias_pair(row), fetch(token, row)); }
}

fn rstd_of(tile_token: u32) -> f32 {
  if (!NORM) { return 1.0; }
  var sum = 0.0;
  for (var i = 0u; i < 8u; i++) { sum += x_tile[tile_token * 8u + i].x; }
  return inverseSqrt(sum / f32(COLS) + EPS);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token0 = group.y * TILE;
  let row0 = group.x * TILE;
  let my_token = lid / 16u % 2u * 4u + lid / 4u % 2u * 2u + lid % 2u;             // and the seven 8 apart
  let my_pair = lid / 32u * 4u + lid / 8u % 2u * 2u + lid / 2u % 2u;              // and the three 8 apart
  let w_from = min(row0 + lid % 32u * 2u + lid / 32u, PART_ROWS - 1u) * BLOCKS;   // even rows first
  let quad = lid % 8u;
  let n_live = (step.n_tokens - token0 + 7u) / 8u;                                // tokens of a thread before the end
  var w = load_packed(w_from);
  var quads = load_x(token0 + lid / 8u, quad);
  var squares: array<f32, 8>;
  var sums: Sums;
  for (var block = 0u; block < BLOCKS; block++) {
    stage_w(w, lid);
    stage_x(quads, lid, block, &squares);
    workgroupBarrier();
    let next = min(block + 1u, BLOCKS - 1u);
    w = load_packed(w_from + next);
    quads = load_x(token0 + lid / 8u, next * 8u + quad);
    add_block(&sums, my_token, my_pair, n_live);
    workgroupBarrier();
  }
  if (NORM) {
    for (var i = 0u; i < 8u; i++) { x_tile[lid + 64u * i] = vec4(squares[i]); }   // (token, quad)
    workgroupBarrier();
  }
  // The sums of a token move down to the first, so that emit is written out for one.
  for (var token = my_token; token < TILE; token += 8u) {
    if (token0 + token < step.n_tokens) {
      let rstd = rstd_of(token);
      let part_row = row0 + 2u * my_pair;
      emit_pair(token0 + token, part_row, rstd * sums[0].xy);
      emit_pair(token0 + token, part_row + 16u, rstd * sums[0].zw);
      emit_pair(token0 + token, part_row + 32u, rstd * sums[1].xy);
      emit_pair(token0 + token, part_row + 48u, rstd * sums[1].zw);
    }
    for (var i = 0u; i < 14u; i++) { sums[i] = sums[i + 2u]; }
  }
}
