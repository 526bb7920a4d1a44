// The activations of a matmul_few, in f32. Libraries: x_block.
const NORMS_HERE = NORM;

alias Weights = Block;

alias Held = Packed;
fn load_held(block: u32) -> Held { return load_packed(block); }

fn weights_of(w: Held, block: u32) -> Weights { return dequantize(w); }

// Of token first + t, t < 4.
fn load_x(first: u32, t: u32, block: u32) -> X { return x_block(present(first + t), block); }

const STAGES = false;
fn fetch_x(trip: u32, lid: u32) {}
fn stage_x(lid: u32) {}

fn square_of(x: X) -> f32 { return x.square; }

fn product(w: Weights, x: X) -> f32 { return block_dot(w, x.values); }
