// The activations of a matmul_few, in f32. Libraries: x_block.
const NORMS_HERE = NORM;

alias Weights = Block;

fn weights_of(w: Packed) -> Weights { return dequantize(w); }

fn load_x(token: u32, block: u32) -> X { return x_block(token, block); }

fn square_of(x: X) -> f32 { return x.square; }

fn product(w: Weights, x: X) -> f32 { return block_dot(w, x.values); }
