// xq[t, :] = n(x[t, :]) in 16 bits: v = round(n / d), d = max|n| / 32512 of the whole token, v = 256 high + low in
// signed bytes; n is RMSNorm when NORM. One workgroup a token, which reads it twice. linear/matmul_matrices.wgsl
// multiplies them.
// A token whose largest magnitude is below ZERO_BELOW is zero. Magnitudes are compared by their bits, so that a NaN or
// an infinity makes d one, too.
// Constants: COLS, NORM, EPS, ZERO_BELOW, WORKGROUP: a power of two. Libraries: workgroup_sum.
const QUADS = COLS / 4u;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;       // (n_tokens, QUADS)
// the norm weight comes first when NORM (linear/params.wgsl)
@group(0) @binding(1) var<storage, read> params: array<vec4<f32>>;
// (n_tokens, QUADS) words of four high bytes in the order of k, the same of low bytes, then (n_tokens) bits of d in f32
@group(0) @binding(2) var<storage, read_write> xq: array<u32>;

var<workgroup> largest: atomic<u32>;

fn normed_quad(at: u32, quad: u32) -> vec4<f32> {
  if (NORM) { return x[at] * params[quad]; }
  return x[at];
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let token = group.x;
  let first = token * QUADS;
  if (lid == 0u) { atomicStore(&largest, 0u); }
  workgroupBarrier();
  var square = 0.0;
  var most = vec4(0u);
  for (var quad = lid; quad < QUADS; quad += WORKGROUP) {
    let raw = x[first + quad];
    square += dot(raw, raw);
    most = max(most, bitcast<vec4<u32>>(normed_quad(first + quad, quad)) & vec4(0x7fffffffu));
  }
  atomicMax(&largest, max(max(most.x, most.y), max(most.z, most.w)));
  workgroupBarrier();
  let m = atomicLoad(&largest);
  let zero = m < bitcast<u32>(ZERO_BELOW);
  let scale = select(32512.0 / bitcast<f32>(m), 0.0, zero);
  for (var quad = lid; quad < QUADS; quad += WORKGROUP) {
    let v = vec4<u32>(vec4<i32>(round(scale * normed_quad(first + quad, quad))) + 32896);
    xq[first + quad] = pack4xU8(v >> vec4(8u)) ^ 0x80808080u;
    xq[(step.n_tokens * QUADS) + first + quad] = pack4xU8(v & vec4(0xffu)) ^ 0x80808080u;
  }
  var rstd = 1.0;
  if (NORM) { rstd = inverseSqrt(workgroup_sum(square, lid) / f32(COLS) + EPS); }
  if (lid == 0u) {
    xq[2u * step.n_tokens * QUADS + token] = bitcast<u32>(select(rstd * bitcast<f32>(m) / 32512.0, 0.0, zero));
  }
}
