// The key and value of a step in signed bytes, with a scale each. Library of heads: kv_q8. Every workgroup quantizes
// them for itself, as linear/epilogues/put_rows_q8.wgsl does.
const LEAST = 1e-30f;                       // a row of smaller numbers is zero
const NOT_FINITE = 0x7f800000u;             // so is the row of a NaN or an infinity, and its scale a NaN

var<workgroup> fresh: array<u32, DIM / 2u>; // bytes of the key, then value
var<workgroup> fresh_scales: array<u32, 2>; // their bits

// Pair i of the key, then value: in the place of the pair that came.
fn put_fresh(i: u32, y: vec2<f32>) {
  heads[GROUP * DIM + 2u * i] = y.x;
  heads[GROUP * DIM + 2u * i + 1u] = y.y;
}

// Quantizes both, SUBGROUP threads each.
fn finish_fresh() {
  for (var kind = lid / SUBGROUP; kind < 2u; kind += THREADS / SUBGROUP) {
    let row = (GROUP + kind) * DIM;
    var most = 0u;
    for (var i = lid % SUBGROUP; i < DIM; i += SUBGROUP) { most = max(most, bitcast<u32>(heads[row + i]) & 0x7fffffffu); }
    for (var stride = SUBGROUP / 2u; stride > 0u; stride /= 2u) { most = max(most, subgroupShuffleXor(most, stride)); }
    let is_zero = most < bitcast<u32>(LEAST) || most >= NOT_FINITE;
    let inverse = select(127.0 / bitcast<f32>(most), 0.0, is_zero);
    for (var i = lid % SUBGROUP; i < DIM / 4u; i += SUBGROUP) {
      let at = row + 4u * i;
      let quad = vec4(heads[at], heads[at + 1u], heads[at + 2u], heads[at + 3u]);
      fresh[kind * (DIM / 4u) + i] = pack4xI8(vec4<i32>(round(quad * inverse)));
    }
    if (lid % SUBGROUP == 0u) {
      let scale = select(bitcast<u32>(bitcast<f32>(most) / 127.0), 0u, is_zero);
      fresh_scales[kind] = select(scale, 0x7fc00000u, most >= NOT_FINITE);
    }
  }
  workgroupBarrier();
}

// An oct of the key (0) or value (1), and its scale.
fn fresh_oct(kind: u32, oct: u32) -> KvOct {
  let at = kind * (DIM / 4u) + 2u * oct;
  return vec2(fresh[at], fresh[at + 1u]);
}
fn fresh_scale(kind: u32) -> f32 { return bitcast<f32>(fresh_scales[kind]); }
