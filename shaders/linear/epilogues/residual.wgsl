// residual[t, :] += SCALE * (W x[t, :] + bias): the output projection of attention, and the down projection of the MLP.
// Epilogue of matvec.wgsl or matmul.wgsl. Constants: SCALE.
@group(0) @binding(4) var<storage, read_write> residual: array<f32>;   // (n_tokens, ROWS)

fn fetch(token: u32, row: u32) -> vec2<f32> {
  let at = token * ROWS + row;
  return vec2(residual[at], residual[min(at + 1u, (token + 1u) * ROWS - 1u)]);
}

fn emit(token: u32, row: u32, y: vec2<f32>, before: vec2<f32>) {
  residual[token * ROWS + row] = before.x + SCALE * y.x;
  if (row + 1u < ROWS) { residual[token * ROWS + row + 1u] = before.y + SCALE * y.y; }
}
