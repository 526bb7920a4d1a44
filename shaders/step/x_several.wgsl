// x of several tokens in workgroup memory, put together once for all rows that are multiplied with it. A block of 32
// columns is three quads of words, each a read of 16 bytes: its bytes 0 to 15; its bytes 16 to 31; and of each half d,
// then start16. Quad q of block b of a token lies at 2 * ((q * ROWS + token) * stride + b). The squares come behind all
// quads. Libraries: start.
fn x_of(a: vec2<u32>, b: vec2<u32>, c: vec2<u32>, e: vec2<u32>, scales: vec2<u32>, starts: vec2<u32>) -> X {
  return X(vec4(a, b), vec4(c, e), bitcast<vec2<f32>>(scales), bitcast<vec2<i32>>(starts));
}
