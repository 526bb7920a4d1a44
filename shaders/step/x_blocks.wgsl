// Activations in blocks of 16 signed bytes. In words: 6 of three bytes, d as a float24, and the sum of squares of the
// values before the norm weight, as a float24. d is rounded up, so that no byte passes 127. Where a value is infinite,
// so is d, and all products with it are infinite or NaN. In workgroup memory a token has a plane for each word of a
// block, 7 or, with the squares, 8. Word j of block b lies at [(token * planes + j) * stride + b / 2][b % 2], so that a
// block of 32 columns is 7 reads. For several tokens the bytes are put together once for all rows: a block is 5 reads.
// Constants: X_WORDS (pairs of x_words), MOST_OWN (values of a token that a workgroup publishes at a time), ZERO_BELOW.
struct X { low: vec4<u32>, high: vec4<u32>, d: vec2<f32> }

var<workgroup> x_words: array<vec2<u32>, X_WORDS>;
// Of each token: values to publish, none of them NaN; the rows of the residual stream that this workgroup owns; and the
// sum of squares of x.
var<workgroup> y_own: array<f32, ROWS * MOST_OWN>;
var<workgroup> x_own: array<f32, ROWS * OWN_HIDDEN>;
var<workgroup> squares: array<f32, ROWS>;

fn bytes_of(a: u32, b: u32, c: u32, d: u32, e: u32, f: u32) -> vec4<u32> {
  return vec4(a | (b << 24u), (b >> 8u) | (c << 16u), (c >> 16u) | (d << 8u), e | (f << 24u));
}

// A block of x, of its entries in the planes: as its words came, or with its bytes put together.
fn x_of_words(
  a: vec2<u32>, b: vec2<u32>, c: vec2<u32>, d: vec2<u32>, e: vec2<u32>, f: vec2<u32>, scales: vec2<u32>,
) -> X {
  return X(bytes_of(a.x, b.x, c.x, d.x, e.x, f.x), bytes_of(a.y, b.y, c.y, d.y, e.y, f.y), bitcast<vec2<f32>>(scales << vec2(8u)));
}

fn x_of_bytes(a: vec2<u32>, b: vec2<u32>, c: vec2<u32>, d: vec2<u32>, scales: vec2<u32>) -> X {
  return X(vec4(a.x, b.x, c.x, d.x), vec4(a.y, b.y, c.y, d.y), bitcast<vec2<f32>>(scales << vec2(8u)));
}

// Adds up the squares of so many blocks that are in workgroup memory, to those before unless they are the first.
// SUBGROUP threads take a token.
fn add_squares(n_blocks: u32, stride: u32, is_first: bool) {
  for (var token = lid / SUBGROUP; token < ROWS; token += THREADS / SUBGROUP) {
    let plane = (token * 8u + 7u) * stride;
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
  for (var i = lid; i < n_rows() * n_values / 2u; i += THREADS) {
    let token = select(i / (n_values / 2u), 0u, ROWS == 1u);
    let word = i - token * (n_values / 2u);
    let block = first_block + word / 8u;
    if (block >= n_blocks) { continue; }
    let first_value = i / 8u % (ROWS * MOST_OWN / 16u) * 16u;
    let j = i % 8u;
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
      let first_own = i / 8u % (ROWS * OWN_HIDDEN / 16u) * 16u;
      for (var e = 0u; e < 16u; e++) { sum = fma(x_own[first_own + e], x_own[first_own + e], sum); }
      payload = float24(sum);
    }
    publish(region + (token * n_blocks + block) * 8u + j, payload, tag);
  }
}
