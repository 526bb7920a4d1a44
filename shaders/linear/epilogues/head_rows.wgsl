// logits[t, :] = cap(SCALE * W n(x[t, :])) for every token of a batch, n = RMSNorm. Epilogue of matmul_few.wgsl.
// Constants: those of logit_pair, STRIDE: the floats of a token. Libraries: logit_pair.
@group(0) @binding(4) var<storage, read_write> logits: array<f32>;   // (n_tokens, STRIDE), ROWS = vocabulary of them

fn fetch(token: u32, row: u32) -> vec2<f32> { return vec2(0.0); }

fn emit(token: u32, row: u32, y: vec2<f32>, fetched: vec2<f32>) {
  let pair = logit_pair(y);
  logits[token * STRIDE + row] = pair.x;
  if (row + 1u < ROWS) { logits[token * STRIDE + row + 1u] = pair.y; }
}
