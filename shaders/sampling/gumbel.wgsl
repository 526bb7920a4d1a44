// Counter-based Gumbel noise: it depends on (id, position, seed) alone, so that a seed gives the same text in any order
// of threads and at any run-ahead. src/cpu/sample.ts makes the same numbers.
// pcg3d of Jarzynski and Olano 2020, first word.
fn pcg3d(id: u32, position: u32, seed: u32) -> u32 {
  var v = vec3u(id, position, seed) * 1664525u + 1013904223u;
  v.x += v.y * v.z;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v ^= v >> vec3u(16u);
  return v.x + v.y * v.z;
}

// g = -log(e), e = -log(1 - v), v uniform in (0, 1). Small v win; WGSL's log is poor next to 1, so there e is
// 2 atanh(z), z = v / (2 - v) <= 1/3, as a series.
fn gumbel(id: u32, position: u32) -> f32 {
  let v = min((f32(pcg3d(id, position, sampling.seed)) + 0.5) * 0x1p-32f, 1.0 - 0x1p-24f);
  let z = v / (2.0 - v);
  let s = z * z;
  let series = 1.0 + s * (1.0 / 3.0 + s * (1.0 / 5.0 + s * (1.0 / 7.0 + s * (1.0 / 9.0 + s * (1.0 / 11.0 + s / 13.0)))));
  var e = 2.0 * z * series;
  if (v > 0.5) { e = -log(1.0 - v); }
  return -log(e);
}
