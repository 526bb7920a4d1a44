// The activations of a matvec, quantised by each workgroup for itself: the last token's row of x, times the norm weight when
// NORM. That takes a read of x from the cache where a dispatch of its own would take a whole gap between two dispatches.
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;    // (n_tokens, COLS / 4)

var<workgroup> x_low: array<vec4<u32>, BLOCKS>;
var<workgroup> x_high: array<vec4<u32>, BLOCKS>;
var<workgroup> x_d: array<vec2<f32>, BLOCKS>;    // d, and the sum of squares

fn load_x(block: u32) -> X { return X(x_low[block], x_high[block], x_d[block].x, x_d[block].y); }
