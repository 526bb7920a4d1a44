// Activations in blocks of 16 signed bytes. In words: 6 of three bytes, d as a float24, and the sum of squares of the
// values before the norm weight, as a float24. d is rounded up, so that no byte passes 127. Where a value is infinite,
// so is d, and all products with it are infinite or NaN. In workgroup memory word j of block b lies at
// [j * stride + b / 2][b % 2], so that a block of 32 columns is 7 reads.
// Constants: X_WORDS (pairs of x_words), MOST_OWN (values that a workgroup publishes at a time), ZERO_BELOW.
struct X { low: vec4<u32>, high: vec4<u32>, d: vec2<f32> }

var<workgroup> x_words: array<vec2<u32>, X_WORDS>;
var<workgroup> y_own: array<f32, MOST_OWN>;      // values to publish, none of them NaN
var<workgroup> x_own: array<f32, OWN_HIDDEN>;    // the rows of the residual stream that this workgroup owns
var<workgroup> square_parts: array<f32, THREADS / SUBGROUP>;
var<private> square: f32;
var<private> rstd: f32;

fn put_block_word(i: u32, payload: u32, stride: u32) {
  let j = i & 7u;
  if (j == 7u) {
    square += from24(payload);
  } else {
    x_words[j * stride + (i >> 4u)][(i >> 3u) & 1u] = payload;
  }
}

fn bytes_of(a: u32, b: u32, c: u32, d: u32, e: u32, f: u32) -> vec4<u32> {
  return vec4(a | (b << 24u), (b >> 8u) | (c << 16u), (c >> 16u) | (d << 8u), e | (f << 24u));
}

fn load_x(block: u32, stride: u32) -> X {
  let a = x_words[block];
  let b = x_words[stride + block];
  let c = x_words[2u * stride + block];
  let d = x_words[3u * stride + block];
  let e = x_words[4u * stride + block];
  let f = x_words[5u * stride + block];
  let scales = x_words[6u * stride + block];
  return X(bytes_of(a.x, b.x, c.x, d.x, e.x, f.x), bytes_of(a.y, b.y, c.y, d.y, e.y, f.y), bitcast<vec2<f32>>(scales << vec2(8u)));
}

fn put_squares() {
  let sum = add_lanes(square, SUBGROUP);
  if (lid % SUBGROUP == 0u) { square_parts[lid / SUBGROUP] = sum; }
  square = 0.0;
}

// 1 / sqrt(mean(x^2) + EPS), behind a barrier after put_squares.
fn find_rstd() {
  var sum = 0.0;
  for (var i = 0u; i < THREADS / SUBGROUP; i++) { sum += square_parts[i]; }
  rstd = inverseSqrt(sum / f32(HIDDEN) + EPS);
}

// Publishes y_own in blocks from `first_block` on, and the sums of squares of x_own where SQUARES.
fn publish_blocks(region: u32, first_block: u32, n_values: u32, n_blocks: u32, squares: bool, tag: u32) {
  workgroupBarrier();
  for (var i = lid; i < n_values / 2u; i += THREADS) {
    let block = first_block + i / 8u;
    if (block >= n_blocks) { continue; }
    let first_value = i / 8u * 16u;
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
    } else if (squares) {
      var sum = 0.0;
      for (var e = 0u; e < 16u; e++) { sum = fma(x_own[first_value + e], x_own[first_value + e], sum); }
      payload = float24(sum);
    }
    publish(region + block * 8u + j, payload, tag);
  }
}
