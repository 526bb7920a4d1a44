// x of one token in workgroup memory, as its words came: a plane for each word of a block, 7 or, with the squares, 8.
// Word j of block b lies at [j * stride + b / 2][b % 2], so that a block of 32 columns is 7 reads. Libraries: start.
fn x_of(
  a: vec2<u32>, b: vec2<u32>, c: vec2<u32>, d: vec2<u32>, e: vec2<u32>, f: vec2<u32>, scales: vec2<u32>,
) -> X {
  let low = bytes_of(a.x, b.x, c.x, d.x, e.x, f.x);
  let high = bytes_of(a.y, b.y, c.y, d.y, e.y, f.y);
  return X(low, high, bitcast<vec2<f32>>(scales << vec2(8u)), vec2(start16(low), start16(high)));
}
