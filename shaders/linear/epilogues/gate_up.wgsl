// h[t, i] = activation(gate) * up, gate = Wg n(x) and up = Wu n(x) with n = RMSNorm (SwiGLU and GEGLU: Shazeer 2020).
// Epilogue of matvec.wgsl or matmul.wgsl over the rows of Wg and Wu interleaved: gate 0, up 0, gate 1, up 1 ...
// Libraries: activation.
@group(0) @binding(4) var<storage, read_write> h: array<f32>;   // (n_tokens, ROWS / 2)

fn fetch(token: u32, row: u32) -> vec2<f32> { return vec2(0.0); }

fn emit(token: u32, row: u32, y: vec2<f32>, fetched: vec2<f32>) {
  h[(token * ROWS + row) / 2u] = activation(y.x) * y.y;
}
