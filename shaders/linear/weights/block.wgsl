// 32 neighboring values of a row, by name and not by index: an array indexed in a loop lands in memory on some devices.
struct Block {
  a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>,
  e: vec4<f32>, f: vec4<f32>, g: vec4<f32>, h: vec4<f32>,
}

fn block_dot(u: Block, v: Block) -> f32 {
  return dot(u.a, v.a) + dot(u.b, v.b) + dot(u.c, v.c) + dot(u.d, v.d)
    + dot(u.e, v.e) + dot(u.f, v.f) + dot(u.g, v.g) + dot(u.h, v.h);
}
