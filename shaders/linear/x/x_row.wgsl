// x as a row of f32: that of the last token of the pass.
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;    // (n_tokens, COLS / 4)

fn x_quad(i: u32) -> vec4<f32> { return x[(step.n_tokens - 1u) * (COLS / 4u) + i]; }
