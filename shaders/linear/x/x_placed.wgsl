// The activations of a matvec in f32 as placed weights take them: those of the last token. Libraries: x_block, and a
// file of weights/ that ends in _placed.
fn prepare_x(lid: u32) {}

fn load_x(block: u32) -> X {
  let x = x_block(step.n_tokens - 1u, block);
  return X(arranged(x.values), x.square);
}
