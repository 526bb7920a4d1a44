// The activations of a matvec, in f32: those of the last token. Libraries: x_block.
fn prepare_x(lid: u32) {}

fn load_x(block: u32) -> X { return x_block(step.n_tokens - 1u, block); }

// sum_j w[j] x[j] over one block, in f32.
fn product(w: Packed, x: X) -> f32 { return block_dot(dequantize(w), x.values); }
