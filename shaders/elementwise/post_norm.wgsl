// x[t, :] += SCALE * weight * y[t, :] / sqrt(mean(y[t, :]^2) + EPS): what attention or the MLP adds, normalized first.
// One workgroup takes one token; each thread strides over COLS in quads.
// Constants: COLS, EPS, SCALE, WORKGROUP. Libraries: workgroup_sum.
const QUADS = COLS / 4u;

@group(0) @binding(0) var<storage, read> y: array<vec4<f32>>;         // (n_tokens, QUADS)
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;    // (QUADS)
@group(0) @binding(2) var<storage, read_write> x: array<vec4<f32>>;   // (n_tokens, QUADS)

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let row = group.x * QUADS;
  var square = 0.0;
  for (var i = lid; i < QUADS; i += WORKGROUP) {
    let quad = y[row + i];
    square += dot(quad, quad);
  }
  let factor = SCALE * inverseSqrt(workgroup_sum(square, lid) / f32(COLS) + EPS);
  for (var i = lid; i < QUADS; i += WORKGROUP) { x[row + i] += factor * weight[i] * y[row + i]; }
}
