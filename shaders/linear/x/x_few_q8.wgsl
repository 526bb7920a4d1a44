// The activations of a matmul_few, normed and quantized by elementwise/quantize_activations.wgsl.
// (n_tokens, BLOCKS, 2) bytes, then (n_tokens, BLOCKS) f32 d
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;

const NORMS_HERE = false;

struct X { low: vec4<u32>, high: vec4<u32>, d: f32 }
alias Weights = Quants;

// Weights as they are stored: what converts them waits for them.
alias Held = Raw;
fn load_held(block: u32) -> Held { return load_raw(block); }

fn weights_of(w: Held, block: u32) -> Weights { return unpack(packed(w, block)); }

fn load_x(first: u32, t: u32, block: u32) -> X {
  let at = present(first + t) * BLOCKS + block;
  let d = step.n_tokens * BLOCKS * 8u + at;   // in words
  return X(x[at * 2u], x[at * 2u + 1u], bitcast<f32>(x[d / 4u][d % 4u]));
}

fn square_of(x: X) -> f32 { return 0.0; }

fn product(w: Weights, x: X) -> f32 { return scaled_dot(w, x.low, x.high, x.d); }

const STAGES = false;
fn fetch_x(trip: u32, lid: u32) {}
fn stage_x(lid: u32) {}
