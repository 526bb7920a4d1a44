// h[t, i] = activation(gate[t, i]) * up[t, i] of a product that was stored: where the rows of Wg and Wu could not be
// multiplied in turns (gate_up.wgsl). One thread has a quad of one token (y).
// Constants: INTERMEDIATE. Libraries: activation.
const QUADS = INTERMEDIATE / 4u;

@group(0) @binding(0) var<storage, read> y: array<vec4<f32>>;         // (n_tokens, 2, QUADS): gate, up
@group(0) @binding(1) var<storage, read_write> h: array<vec4<f32>>;   // (n_tokens, QUADS)

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= QUADS) { return; }
  let gate = y[2u * id.y * QUADS + id.x];
  let up = y[(2u * id.y + 1u) * QUADS + id.x];
  h[id.y * QUADS + id.x] = vec4(activation(gate.x), activation(gate.y), activation(gate.z), activation(gate.w)) * up;
}
