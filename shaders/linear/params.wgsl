// The small f32 vector beside a matrix: the norm weight of its input when NORM, then the bias of its rows when BIAS.
@group(0) @binding(3) var<storage, read> params: array<vec4<f32>>;     // (COLS / 4 when NORM, then ROWS / 4 when BIAS)

fn norm_quad(quad: u32) -> vec4<f32> { return params[quad]; }

// Of rows `row`, even, and `row` + 1.
fn bias_pair(row: u32) -> vec2<f32> {
  if (!BIAS) { return vec2(0.0); }
  let quad = params[(select(0u, COLS, NORM) + row) / 4u];
  return select(quad.zw, quad.xy, row % 4u == 0u);
}
