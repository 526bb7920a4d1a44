// logits = W n(x) for the last token of the pass, n = RMSNorm. Epilogue of matvec.wgsl.
@group(0) @binding(4) var<storage, read_write> logits: array<f32>;   // (ROWS), ROWS = vocabulary

fn emit(token: u32, row: u32, y: vec2<f32>) {
  logits[row] = y.x;
  if (row + 1u < ROWS) { logits[row + 1u] = y.y; }
}
