// The activations of a matvec, quantized by each workgroup for itself, times the norm weight when NORM. That takes a
// read of x from the cache where a dispatch of its own would take a whole gap between two dispatches. Libraries: x_row
// or x_parts.
var<workgroup> x_low: array<vec4<u32>, BLOCKS>;
var<workgroup> x_high: array<vec4<u32>, BLOCKS>;
var<workgroup> x_d: array<vec2<f32>, BLOCKS>;    // d, and the sum of squares

fn load_x(block: u32) -> X { return X(x_low[block], x_high[block], x_d[block].x, x_d[block].y); }

fn largest(m: vec4<u32>) -> u32 { return max(max(m.x, m.y), max(m.z, m.w)); }
