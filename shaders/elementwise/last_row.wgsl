// Moves the rows of the last token to the front: x[0, :] = x[n_tokens - 1, :], and the same for q. What follows sees a
// pass of one token. One thread moves a quad of each. Constants: X_QUADS, Q_QUADS, WORKGROUP.
@group(0) @binding(0) var<storage, read_write> x: array<vec4<f32>>;   // (n_tokens, X_QUADS)
@group(0) @binding(1) var<storage, read_write> q: array<vec4<f32>>;   // (n_tokens, Q_QUADS)

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let last = step.n_tokens - 1u;
  if (id.x < X_QUADS) { x[id.x] = x[last * X_QUADS + id.x]; }
  if (id.x < Q_QUADS) { q[id.x] = q[last * Q_QUADS + id.x]; }
}
