// Where a sum begins that is beside 16 signed bytes of x (started.wgsl): the float 2^23 * 1.5, less 8 times their sum.
fn start16(x: vec4<u32>) -> i32 {
  let ones = 0x01010101u;
  let sum = dot4I8Packed(x.x, ones) + dot4I8Packed(x.y, ones) + dot4I8Packed(x.z, ones) + dot4I8Packed(x.w, ones);
  return 0x4b400000 - 8 * sum;
}
