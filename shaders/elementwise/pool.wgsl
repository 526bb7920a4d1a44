// The vector of a text from the residual stream of its tokens, with n = RMSNorm:
//   last   out = n(x[n_tokens - 1])
//   mean   out = sum_t n(x[t]), added to the sum of the passes before; its reader divides by the number of tokens
// Two kernels in this order: norm_rows, add_rows.
// Constants: COLS, EPS, MEAN, WORKGROUP. Libraries: workgroup_sum.
const QUADS = COLS / 4u;

@group(0) @binding(0) var<storage, read_write> x: array<vec4<f32>>;     // (n_tokens, QUADS), normalized in place
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;      // (QUADS)
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;   // (QUADS)

fn first_row() -> u32 { return select(step.n_tokens - 1u, 0u, MEAN); }

// x[t, :] = weight * x[t, :] / sqrt(mean(x[t, :]^2) + EPS). One workgroup takes one token.
@compute @workgroup_size(WORKGROUP)
fn norm_rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
  let row = (first_row() + group.x) * QUADS;
  var square = 0.0;
  for (var i = lid; i < QUADS; i += WORKGROUP) { square += dot(x[row + i], x[row + i]); }
  let factor = inverseSqrt(workgroup_sum(square, lid) / f32(COLS) + EPS);
  for (var i = lid; i < QUADS; i += WORKGROUP) { x[row + i] *= factor * weight[i]; }
}

// out = the sum of the rows. One thread takes a quad of columns.
@compute @workgroup_size(WORKGROUP)
fn add_rows(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= QUADS) { return; }
  var sum = vec4(0.0);
  if (MEAN && step.position > 0u) { sum = out[id.x]; }
  for (var t = first_row(); t < step.n_tokens; t++) { sum += x[t * QUADS + id.x]; }
  out[id.x] = sum;
}
