// Activations in blocks of 16 signed bytes. In words: 6 of three bytes, d as a float24, and the sum of squares of the
// values before the norm weight, as a float24. d is rounded up, so that no byte passes 127. Where a value is infinite,
// so is d, and all products with it are infinite or NaN.
// One token: its words lie block by block, and in workgroup memory as they came, a plane for each word of a block, 7
// or, with the squares, 8. Word j of block b lies at [j * stride + b / 2][b % 2]: a block of 32 columns is 7 reads.
// Several tokens: the first words of all blocks come first, those of a block side by side. A thread reads whole blocks,
// its neighbors the next ones, and puts their bytes together once for all rows. A block of 32 columns is three quads of
// words, each a read of 16 bytes: its bytes 0 to 15; its bytes 16 to 31; and of each half d, then start16. Quad q of
// block b of a token lies at 2 * ((q * ROWS + token) * stride + b). The squares come behind all quads.
// Libraries: start.
// Constants: X_WORDS (pairs of x_words), MOST_OWN (values of a token that a workgroup publishes at a time), ZERO_BELOW.

// A block of 32 columns of a token: its bytes, and of each half of them d and start16.
struct X { low: vec4<u32>, high: vec4<u32>, d: vec2<f32>, start: vec2<i32> }

var<workgroup> x_words: array<vec2<u32>, X_WORDS>;
// Of each token: values to publish, none of them NaN (y_at); the rows of the residual stream that this workgroup owns;
// and the sum of squares of x.
var<workgroup> y_own: array<f32, ROWS * MOST_OWN / 16u * Y_BLOCK>;
var<workgroup> x_own: array<f32, ROWS * OWN_HIDDEN>;
var<workgroup> squares: array<f32, ROWS>;

// Several tokens: four words more than a block has, so that neighbors read from different banks.
const Y_BLOCK = select(20u, 16u, ROWS == 1u);

// The place of value i of a token in y_own.
fn y_at(token: u32, i: u32) -> u32 { return (i / 16u * ROWS + token) * Y_BLOCK + i % 16u; }

fn bytes_of(a: u32, b: u32, c: u32, d: u32, e: u32, f: u32) -> vec4<u32> {
  return vec4(a | (b << 24u), (b >> 8u) | (c << 16u), (c >> 16u) | (d << 8u), e | (f << 24u));
}

// A block of x of one token, of its entries in the planes.
fn x_of_words(
  a: vec2<u32>, b: vec2<u32>, c: vec2<u32>, d: vec2<u32>, e: vec2<u32>, f: vec2<u32>, scales: vec2<u32>,
) -> X {
  let low = bytes_of(a.x, b.x, c.x, d.x, e.x, f.x);
  let high = bytes_of(a.y, b.y, c.y, d.y, e.y, f.y);
  return X(low, high, bitcast<vec2<f32>>(scales << vec2(8u)), vec2(start16(low), start16(high)));
}

// A block of x of one of several tokens, of its quads.
fn x_of_quads(a: vec2<u32>, b: vec2<u32>, c: vec2<u32>, e: vec2<u32>, scales: vec2<u32>, starts: vec2<u32>) -> X {
  return X(vec4(a, b), vec4(c, e), bitcast<vec2<f32>>(scales), bitcast<vec2<i32>>(starts));
}

// Adds up the squares of so many blocks that are in workgroup memory, to those before unless they are the first: `at`
// is the place of the first token's, `step` the way to the next token's. SUBGROUP threads take a token.
fn add_squares(n_blocks: u32, at: u32, step: u32, is_first: bool) {
  for (var token = lid / SUBGROUP; token < ROWS; token += THREADS / SUBGROUP) {
    let plane = at + token * step;
    var sum = 0.0;
    for (var b = lid % SUBGROUP; b < n_blocks; b += SUBGROUP) { sum += from24(x_words[plane + b / 2u][b % 2u]); }
    sum = add_lanes(sum, SUBGROUP);
    if (lid % SUBGROUP == 0u) { squares[token] = sum + select(squares[token], 0.0, is_first); }
  }
}

// 1 / sqrt(mean(x^2) + EPS), behind a barrier after add_squares.
fn rstd_of(token: u32) -> f32 { return inverseSqrt(squares[token] / f32(HIDDEN) + EPS); }

// Publishes n_values of y_own of each token in blocks from `first_block` on; of_x: with the sums of squares of x_own.
fn publish_blocks(region: u32, first_block: u32, n_values: u32, n_blocks: u32, of_x: bool, tag: u32) {
  workgroupBarrier();
  let own_blocks = n_values / 16u;
  for (var i = lid; i < ROWS * own_blocks * 8u; i += THREADS) {
    let token = i % ROWS;
    let own = select(i / ROWS % own_blocks, i / 8u, ROWS == 1u);
    let j = select(i / (ROWS * own_blocks), i % 8u, ROWS == 1u);
    let block = first_block + own;
    if (block >= n_blocks || token >= n_rows()) { continue; }
    let first_value = (own * ROWS + token) % (ROWS * MOST_OWN / 16u) * Y_BLOCK;
    var most = 0.0;
    for (var e = 0u; e < 16u; e++) { most = max(most, abs(y_own[first_value + e])); }
    let d = (bitcast<u32>(most / 127.0) + 0xffu) >> 8u;
    var payload = 0u;
    if (j < 6u) {
      let inverse = select(1.0 / from24(d), 0.0, most < ZERO_BELOW);
      for (var e = 0u; e < 3u; e++) {
        if (3u * j + e < 16u) { payload |= (u32(i32(round(y_own[first_value + 3u * j + e] * inverse))) & 0xffu) << (8u * e); }
      }
    } else if (j == 6u) {
      payload = d;
    } else if (of_x) {
      var sum = 0.0;
      let first_own = (token * (OWN_HIDDEN / 16u) + own) % (ROWS * OWN_HIDDEN / 16u) * 16u;
      for (var e = 0u; e < 16u; e++) { sum = fma(x_own[first_own + e], x_own[first_own + e], sum); }
      payload = float24(sum);
    }
    publish(region + select((j * n_blocks + block) * ROWS + token, block * 8u + j, ROWS == 1u), payload, tag);
  }
}
