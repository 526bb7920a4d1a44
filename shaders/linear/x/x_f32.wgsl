// The activations of a matvec, in f32: those of the last token. Libraries: x_block.
fn prepare_x(lid: u32) {}

fn load_x(block: u32) -> X { return x_block(step.n_tokens - 1u, block); }
